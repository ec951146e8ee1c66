// Attention: a node that means its body is differentiated through it.
#include <gtest/gtest.h>

#include "viridian/gradient/check/check.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::gradient {
namespace {

const rewrite::Rule* rule_named(std::string_view name) {
    const auto rules = rewrite::rules_of(rewrite::Kind::alternative);
    if (!rules.ok()) return nullptr;
    const auto found = std::ranges::find(*rules, name, &rewrite::Rule::name);
    return found == rules->end() ? nullptr : *found;
}

TEST(Attention, IsDifferentiatedThroughItsBody) {
    const rewrite::Rule* recognise = rule_named("recognise_attention");
    ASSERT_NE(recognise, nullptr);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        Random random(seed);
        Instance i(random);
        const std::int64_t rows = i.extent(2, 4), keys = i.extent(2, 5), size = i.extent(1, 3);
        Term scores = matmul(i.input({2, 1, rows, size}), i.input({2, 3, size, keys})) * 0.5;
        if (i.coin()) scores = scores + i.input({2, 1, 1, keys});
        const Term weights = i.b.add(op::Softmax, {scores}, {{"axis", std::int64_t{-1}}});
        const Term attended = matmul(weights, i.input({2, 3, keys, i.extent(1, 4)}));
        i.output(apply(op::Identity, attended));
        i.graph.set_outputs(i.outputs());
        const NodeId at = i.graph.value(attended.id).producer;
        const auto applied = rewrite::apply(*recognise, i.graph, at);
        ASSERT_TRUE(applied.ok()) << applied.error().text();
        ASSERT_TRUE(applied->has_value());
        ASSERT_EQ(i.graph.nodes().size(), 2U) << "Attention and Identity";

        const Result<Question> question = ask(i);
        ASSERT_TRUE(question.ok()) << question.error().text();
        const Result<void> checked = check(*question, Rule::Form::smooth, seed);
        EXPECT_TRUE(checked.ok()) << "seed " << seed << ": " << checked.error().text();
    }
}

}  // namespace
}  // namespace viridian::gradient
