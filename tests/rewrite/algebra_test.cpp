// Sums and products regrouped: on either side, until every grouping of three has been seen.
#include <gtest/gtest.h>

#include <set>

#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/rewrite/rules.hpp"

namespace viridian::rewrite {
namespace {

// The graph after `rule` at its last node; none where it does not match there.
std::optional<Graph> after(const char* rule, Graph graph) {
    const Rule* found = find_rule(rule);
    EXPECT_NE(found, nullptr) << rule;
    EXPECT_TRUE(infer_types(graph).ok());
    const auto applied = apply(*found, graph, graph.value(graph.outputs()[0]).producer);
    EXPECT_TRUE(applied.ok());
    return applied.ok() && *applied ? std::optional(std::move(graph)) : std::nullopt;
}

// The two that are added first: every value by its name, so that order counts for nothing.
std::set<std::string> inner_names(const Graph& graph) {
    for (const NodeId id : graph.nodes()) {
        std::set<std::string> names;
        for (const ValueId input : graph.node(id).inputs)
            if (graph.producer(input) == nullptr) names.insert(graph.value(input).name);
        if (names.size() == 2) return names;
    }
    return {};
}

class Associate : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Associate, ReachesEveryGrouping) {
    const auto [rule, op] = GetParam();
    for (const bool left : {true, false}) {
        Random random(1);
        RandomGraph g(random, ElementType::f32);
        const ValueId x = g.input({2, 3}), y = g.input({2, 3}), z = g.input({2, 3});
        const ValueId inner = g.add(op, {x, y});
        Graph graph = g.finish({left ? g.add(op, {inner, z}) : g.add(op, {z, inner})});
        std::set<std::set<std::string>> groupings;
        for (int step = 0; step < 6; ++step) {
            groupings.insert(inner_names(graph));
            auto next = after(rule, graph);
            ASSERT_TRUE(next.has_value());
            graph = *std::move(next);
        }
        EXPECT_EQ(groupings.size(), 3U);
    }
}

INSTANTIATE_TEST_SUITE_P(Both, Associate,
                         testing::Values(std::pair{"associate_sum", "Add"},
                                         std::pair{"associate_product", "Mul"}),
                         [](const auto& parameter) { return std::string(parameter.param.second); });

// (x·a)·b with small a and b: the two small ones are multiplied first.
TEST(Algebra, SmallFactorsMeetFirst) {
    Random random(1);
    RandomGraph g(random, ElementType::f32);
    const ValueId a = g.input({3}), b = g.input({3});
    const auto graph =
        after("associate_product", g.finish({g.add("Mul", {b, g.add("Mul", {a, g.input({2, 3})})})}));
    ASSERT_TRUE(graph.has_value());
    EXPECT_EQ(graph->value(graph->node(graph->value(graph->outputs()[0]).producer).inputs[0]).type.dims(),
              Dims{3});
}

TEST(Algebra, ProductsAreMultipliedOutAndBack) {
    Random random(1);
    RandomGraph g(random, ElementType::f32);
    const ValueId sum = g.add("Sub", {g.input({2, 3}), g.input({2, 3})});
    const auto out = after("distribute_product", g.finish({g.add("Mul", {g.input({3}), sum})}));
    ASSERT_TRUE(out.has_value());
    EXPECT_EQ(out->node(out->value(out->outputs()[0]).producer).op.name(), "Sub");
    const auto back = after("factor_product", *out);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->node(back->value(back->outputs()[0]).producer).op.name(), "Mul");
}

TEST(Algebra, OneOfTwoConvolutionsHasTheBias) {
    Random random(1);
    RandomGraph g(random, ElementType::f32);
    const ValueId x = g.add("Add", {g.input({1, 2, 5, 5}), g.input({1, 2, 5, 5})});
    const auto graph = after("add_after_convolution",
                             g.finish({g.add("Conv", {x, g.constant({3, 2, 3, 3}), g.constant({3})})}));
    ASSERT_TRUE(graph.has_value());
    std::multiset<std::size_t> inputs;
    for (const NodeId id : graph->nodes())
        if (graph->node(id).op == graph::op::Conv) inputs.insert(graph->node(id).inputs.size());
    EXPECT_EQ(inputs, (std::multiset<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace viridian::rewrite
