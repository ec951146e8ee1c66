#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "viridian/gradient/parameters/decay.hpp"
#include "viridian/gradient/parameters/find.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

namespace op = graph::op;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using testing::ElementsAre;

// The slow meaning of a pattern: every star is tried with every length. For patterns without sets.
bool matches_slowly(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return name.empty();
    if (pattern[0] == '*')
        return matches_slowly(pattern.substr(1), name) ||
               (!name.empty() && matches_slowly(pattern, name.substr(1)));
    return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
           matches_slowly(pattern.substr(1), name.substr(1));
}

TEST(Pattern, AgreesWithTheSlowMeaningOnAllShortOnes) {
    const std::string_view letters = "ab*?";
    const auto text_of = [&](int number, int length, int base) {
        std::string text;
        for (int i = 0; i < length; ++i, number /= base)
            text += letters[static_cast<std::size_t>(number % base)];
        return text;
    };
    int matched = 0;
    for (int length = 1; length <= 5; ++length)
        for (int p = 0; p < 1 << (2 * length); ++p)
            for (int size = 0; size <= 4; ++size)
                for (int n = 0; n < 1 << size; ++n) {
                    const std::string pattern = text_of(p, length, 4), name = text_of(n, size, 2);
                    const bool wanted = matches_slowly(pattern, name);
                    ASSERT_EQ(matches(pattern, name), wanted) << pattern << " " << name;
                    matched += wanted ? 1 : 0;
                }
    EXPECT_GT(matched, 1000);
}

TEST(Pattern, SetsStandForOneCharacter) {
    EXPECT_TRUE(matches("layer[0-3].*", "layer2.weight"));
    EXPECT_FALSE(matches("layer[0-3].*", "layer4.weight"));
    EXPECT_TRUE(matches("layer[!0-3].*", "layer4.weight"));
    EXPECT_FALSE(matches("layer[!0-3].*", "layer.weight"));
    EXPECT_TRUE(matches("[]]", "]"));
    EXPECT_TRUE(matches("[!]]", "a"));
    EXPECT_FALSE(matches("[!]]", "]"));
    EXPECT_TRUE(matches("[a-]", "-"));
    EXPECT_TRUE(matches("*[.]bias", "encoder/fc.bias"));
    for (const std::string_view good : {"a", "*", "[a]", "[]]", "]", "a-b", "[!a]"})
        EXPECT_TRUE(check_pattern(good).ok());
    for (const std::string_view bad : {"", "[", "a[", "[]", "[!]", "[a", "x[!"})
        EXPECT_FALSE(check_pattern(bad).ok());
}

TEST(Pattern, TheLastRuleThatMatchesDecidesWhatIsTrained) {
    const std::vector<std::string> names = {"body.0.weight", "body.0.bias", "head.weight", "head.bias"};
    const auto which = [&](std::vector<TrainRule> rules) { return trained(names, rules); };
    EXPECT_EQ(*which({}), (std::vector<bool>{true, true, true, true}));
    EXPECT_EQ(*which({{"head.*", true}}), (std::vector<bool>{false, false, true, true}));
    EXPECT_EQ(*which({{"body.*", false}, {"*.bias", true}}), (std::vector<bool>{false, true, true, true}));
    EXPECT_EQ(
        which({{"tail.*", true}}).error().text(),
        "no parameter matches `tail.*`. the parameters are `body.0.weight`, `body.0.bias`, `head.weight`, "
        "`head.bias`.");
    EXPECT_EQ(which({{"*", false}}).error().message, "no parameter is left to train");
    EXPECT_EQ(which({{"[", false}}).error().message, "`[` is not a pattern of names");
}

TEST(Decay, LeavesBiasesAndNormalisationsAlone) {
    const auto none = [](std::string_view name, std::int64_t rank) {
        const Decay decay = decay_of(name, rank, 0.1, {});
        EXPECT_TRUE(decay.value == 0 || decay.value == 0.1);
        return decay.value == 0 ? decay.reason : "decays";
    };
    EXPECT_EQ(none("fc.weight", 2), "decays");
    EXPECT_EQ(none("conv.weight", 4), "decays");
    EXPECT_EQ(none("normalizer.weight", 2), "decays");
    EXPECT_EQ(none("normal.weight", 2), "decays");
    EXPECT_EQ(none("bottleneck/lnot", 2), "decays");
    EXPECT_EQ(none("onnx::MatMul_12", 2), "decays");
    EXPECT_EQ(none("onnx::Add_13", 1), "it has 1 dimension");
    EXPECT_EQ(none("temperature", 0), "it has no dimension");
    EXPECT_EQ(none("attention.relative_position.bias", 2), "its name ends in `bias`");
    EXPECT_EQ(none("a/LayerNorm.weight", 3), "`layernorm` in its name is a normalisation");
    EXPECT_EQ(none("h.0.ln_1.weight", 1), "`ln_1` in its name is a normalisation");
    EXPECT_EQ(none("layer1.bn2.weight", 1), "`bn2` in its name is a normalisation");
    EXPECT_EQ(none("norm.weight", 2), "`norm` in its name is a normalisation");
}

TEST(Decay, TheLastRuleThatMatchesDecides) {
    const std::vector<DecayRule> rules = {parse_decay_rule("*.bias=0.5").value(),
                                          parse_decay_rule("head.*=0").value()};
    EXPECT_EQ(decay_of("fc.bias", 1, 0.1, rules).value, 0.5);
    EXPECT_EQ(decay_of("fc.bias", 1, 0.1, rules).reason, "`*.bias` matches it");
    EXPECT_EQ(decay_of("head.bias", 1, 0.1, rules).value, 0);
    EXPECT_EQ(decay_of("head.weight", 2, 0.1, rules).value, 0);
    EXPECT_EQ(decay_of("fc.weight", 2, 0.1, rules).value, 0.1);
    EXPECT_EQ(parse_decay_rule("a=b=1e-4")->pattern, "a=b");
    for (const std::string_view bad : {"", "x", "=1", "x=", "x=-1", "x=inf", "x=1e", "[=1"})
        EXPECT_EQ(parse_decay_rule(bad).error().code, ErrorCode::invalid_argument) << bad;
}

TEST(Parameters, AreWhatLayersRead) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, 3})});
    const ValueId turned =
        graph.add(op::Transpose, {graph.add_constant("weight", Tensor(ElementType::f32, {4, 3}))},
                  {{"perm", Dims{1, 0}}});
    ValueId y = graph.add(op::MatMul, {x, turned});
    y = graph.add(op::Add, {y, graph.add_constant("bias", Tensor(ElementType::f32, {4}))});
    const ValueId gain = graph.add_constant("gain", Tensor(ElementType::f32, {4}));
    y = graph.add(op::Mul, {y, graph.add(op::CastLike, {gain, y})});  // as PyTorch's newer exporter writes
    y = graph.add(op::Mul, {y, graph.add_constant("scale", Tensor::scalar(2.0F))});
    const float low = -1e9F;
    y = graph.add(op::Add,
                  {y, graph.add_constant("mask", Tensor::f32({4}, std::vector{0.0F, low, 0.0F, low}))});
    y = graph.add(op::Reshape,
                  {y, graph.add_constant("shape", Tensor::i64({1}, std::vector<std::int64_t>{8}))});
    graph.set_outputs({y});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto found = find_parameters(graph);
    ASSERT_TRUE(found.ok());
    std::vector<std::string> names;
    for (const Parameter& parameter : *found) names.push_back(parameter.name);
    EXPECT_THAT(names, ElementsAre("weight", "bias", "gain"));
}

// The bias of a layer with one output has one element, as the settings of other nodes have.
TEST(Parameters, ALoneBiasBehindAProductIsTrained) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, 3})});
    ValueId y = graph.add(op::MatMul, {x, graph.add_constant("weight", Tensor(ElementType::f32, {3, 1}))});
    y = graph.add(op::Add, {graph.add_constant("bias", Tensor(ElementType::f32, {1})), y});
    y = graph.add(op::Add, {y, graph.add_constant("epsilon", Tensor(ElementType::f32, {1}))});
    y = graph.add(op::MatMul, {y, graph.add_constant("wide", Tensor(ElementType::f32, {1, 2}))});
    y = graph.add(op::Add, {y, graph.add_constant("shift", Tensor(ElementType::f32, {1}))});
    graph.set_outputs({y});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto found = find_parameters(graph);
    ASSERT_TRUE(found.ok());
    std::vector<std::string> names;
    for (const Parameter& parameter : *found) names.push_back(parameter.name);
    EXPECT_THAT(names, ElementsAre("weight", "bias", "wide"));
}

}  // namespace
}  // namespace viridian::gradient
