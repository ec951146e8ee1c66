#include "viridian/rewrite/rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/certify/certify.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {
namespace {

std::vector<std::string> operators(const Graph& graph) {
    std::vector<std::string> names;
    for (const NodeId id : graph.nodes()) names.emplace_back(graph.node(id).op.name());
    std::sort(names.begin(), names.end());
    return names;
}

using Names = std::vector<std::string>;

Outcome simplified(Graph& graph, Options options = {.without = {}, .verify = true}) {
    auto outcome = simplify(graph, options);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().text());
    return outcome.ok() ? *std::move(outcome) : Outcome{};
}

// conv → bn → relu, twice, with a residual around: what torchvision's networks are made of.
Graph residual_network(RandomGraph& g, bool bn_read_twice = false) {
    const std::int64_t channels = 3;
    const auto normalised = [&](ValueId x) {
        const ValueId conv =
            g.add("Conv", {x, g.constant({channels, channels, 3, 3})}, {{"pads", Dims{1, 1, 1, 1}}});
        return g.add("BatchNormalization", {conv, g.constant({channels}), g.constant({channels}),
                                            g.constant({channels}), g.positive({channels})});
    };
    const ValueId x = g.input({1, channels, 5, 7});
    const ValueId first = normalised(x);
    const ValueId second = normalised(g.add("Relu", {first}));
    const ValueId sum = g.add("Add", {second, bn_read_twice ? first : x});
    return g.finish({g.add("Relu", {g.add("Identity", {sum})})});
}

// An infinite output must not widen the tolerance of the finite ones, nor agree with a finite one.
TEST(Compare, InfinitiesAgreeOnlyWithThemselves) {
    const auto divided = [](const std::vector<float>& by, float plus) {
        Graph graph;
        const auto constant = [&](const std::vector<float>& values) {
            return graph.add_constant("c", graph::Tensor::f32({2}, values));
        };
        const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2})});
        const ValueId none = graph.add("Mul", {x, constant({0, 0})});
        graph.set_outputs({graph.add("Div", {graph.add("Add", {none, constant({1, plus})}), constant(by)})});
        EXPECT_TRUE(infer_types(graph).ok());
        return graph;
    };
    EXPECT_TRUE(compare(divided({0, 1}, 1), divided({0, 1}, 1), 1, 1e-9).ok());
    EXPECT_FALSE(compare(divided({0, 1}, 1), divided({0, 1}, 2), 1, 1e-9).ok()) << "beside an infinity";
    EXPECT_FALSE(compare(divided({0, 1}, 1), divided({1, 1}, 1), 1, 1e-9).ok()) << "1 for an infinity";
    EXPECT_FALSE(compare(divided({0, 1}, 1), divided({-1e-30F, 1}, 1), 1, 1e-9).ok());
}

// The tolerance is a share of the tensor's largest element, however small that is.
TEST(Compare, SmallOutputsAreComparedAsStrictlyAsLargeOnes) {
    const auto scaled = [](const std::vector<float>& by) {
        Graph graph;
        const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2})});
        const ValueId c = graph.add_constant("c", graph::Tensor::f32({2}, by));
        graph.set_outputs({graph.add("Mul", {x, c})});
        EXPECT_TRUE(infer_types(graph).ok());
        return graph;
    };
    for (const float size : {1e-30F, 1e-12F, 1.0F, 1e12F}) {
        EXPECT_TRUE(compare(scaled({size, size}), scaled({size, size}), 1, 1e-9).ok()) << size;
        EXPECT_FALSE(compare(scaled({size, size}), scaled({size, size * 1.001F}), 1, 1e-9).ok()) << size;
        EXPECT_FALSE(compare(scaled({0, 0}), scaled({0, size}), 1, 1e-9).ok()) << size << " for zero";
        EXPECT_FALSE(compare(scaled({0, size}), scaled({0, 0}), 1, 1e-9).ok()) << "zero for " << size;
    }
}

TEST(Simplify, FoldsBatchNormAndKeepsOrigins) {
    Random random(1);
    for (const bool twice : {false, true}) {
        RandomGraph g(random, ElementType::f64);
        Graph before = residual_network(g, twice);
        Graph after = before;
        const Outcome outcome = simplified(after);
        EXPECT_EQ(operators(after), (Names{"Add", "Conv", "Conv", "Relu", "Relu"}));
        ASSERT_TRUE(infer_types(before).ok());
        EXPECT_TRUE(compare(before, after, 1, 1e-9).ok());
        for (const NodeId id : after.nodes())
            if (after.node(id).op == graph::op::Conv) {
                EXPECT_GE(after.node(id).origin.size(), 2U);
                EXPECT_TRUE(after.node(id).origin[0].starts_with("Conv")) << after.node(id).origin[0];
            }
        EXPECT_EQ(after.value(after.outputs()[0]).name, before.value(before.outputs()[0]).name);
        EXPECT_FALSE(outcome.times.empty());
    }
}

TEST(Simplify, ConvReadTwiceKeepsItsBatchNorm) {
    Random random(2);
    RandomGraph g(random, ElementType::f64);
    const ValueId conv = g.add("Conv", {g.input({1, 2, 4, 4}), g.constant({3, 2, 1, 1})});
    const ValueId norm = g.add("BatchNormalization",
                               {conv, g.constant({3}), g.constant({3}), g.constant({3}), g.positive({3})});
    Graph graph = g.finish({g.add("Sub", {norm, conv})});
    Graph before = graph;
    simplified(graph);
    EXPECT_EQ(operators(graph), (Names{"Add", "Conv", "Mul", "Sub"}));
    ASSERT_TRUE(infer_types(before).ok());
    EXPECT_TRUE(compare(before, graph, 3, 1e-9).ok());
}

TEST(Simplify, ShapesComputedByExportsFold) {
    Random random(3);
    RandomGraph g(random, ElementType::f32);
    const ValueId x = g.input({2, 3, 4});
    const auto entry = [&](std::int64_t i) {
        const ValueId index = g.graph.add_constant("i", Tensor::scalar(i));
        return g.add("Unsqueeze", {g.add("Gather", {g.add("Shape", {x}), index}), g.integers({0})});
    };
    const ValueId shape = g.add("Concat", {entry(0), g.integers({-1})}, {{"axis", std::int64_t{0}}});
    Graph graph = g.finish({g.add("Relu", {g.add("Reshape", {x, shape})})});
    simplified(graph);
    EXPECT_EQ(operators(graph), (Names{"Relu", "Reshape"}));
    EXPECT_EQ(text(graph.value(graph.outputs()[0]).type), "f32[2,12]");
}

TEST(Simplify, RulesCanBeDisabled) {
    Random random(4);
    RandomGraph g(random, ElementType::f32);
    Graph graph = residual_network(g);
    Graph copy = graph;
    simplified(graph, {.without = {"fold_batch_norm", "split_batch_norm"}, .verify = true});
    const Names left = operators(graph);
    EXPECT_EQ(std::count(left.begin(), left.end(), "BatchNormalization"), 2);
    const auto refused = simplify(copy, {.without = {"fold_batchnorm"}});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(Simplify, CertificatesReplay) {
    Random random(5);
    RandomGraph g(random, ElementType::f32);
    const Graph original = residual_network(g);
    Graph graph = original;
    Outcome outcome = simplified(graph);
    const auto replayed = replay(original, outcome.certificate);
    ASSERT_TRUE(replayed.ok()) << replayed.error().text();
    EXPECT_EQ(structural_hash(*replayed), structural_hash(graph));
    outcome.certificate.erase(outcome.certificate.begin());
    EXPECT_FALSE(replay(original, outcome.certificate).ok());
}

// Networks of random operators: whatever applies, the outputs stay.
TEST(Simplify, RandomNetworksKeepTheirOutputs) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Random random(seed);
        RandomGraph g(random, ElementType::f64);
        const Dims dims = {2, 3, 4, 5};
        std::vector<ValueId> values = {g.input(dims)};
        const auto any = [&] { return values[random.below(values.size())]; };
        for (int i = 0; i < 14; ++i) {
            const ValueId x = any();
            switch (g.extent(0, 9)) {
                case 0:
                    values.push_back(g.add("Conv", {x, g.constant({3, 3, 1, 1})}));
                    break;
                case 1:
                    values.push_back(g.either_way("Mul", x, g.constant(g.coin() ? Dims{3, 1, 1} : Dims{5})));
                    break;
                case 2:
                    values.push_back(g.either_way("Add", x, g.constant(g.coin() ? Dims{3, 1, 1} : Dims{})));
                    break;
                case 3:
                    values.push_back(g.add("BatchNormalization", {x, g.constant({3}), g.constant({3}),
                                                                  g.constant({3}), g.positive({3})}));
                    break;
                case 4: {
                    const Dims perm = g.permutation(4);
                    Dims inverse(4);
                    for (std::size_t k = 0; k < 4; ++k)
                        inverse[static_cast<std::size_t>(perm[k])] = static_cast<std::int64_t>(k);
                    const ValueId there = g.add("Transpose", {x}, {{"perm", perm}});
                    values.push_back(
                        g.add("Transpose", {g.coin() ? there : g.used(there)}, {{"perm", inverse}}));
                    break;
                }
                case 5:
                    values.push_back(
                        g.add("Reshape", {g.add("Reshape", {x, g.integers({6, -1})}), g.integers(dims)}));
                    break;
                case 6:
                    values.push_back(g.add("Identity", {x}));
                    break;
                case 7:
                    values.push_back(g.add("Sub", {x, any()}));
                    break;
                case 8:
                    values.push_back(g.used(x));
                    break;
                default:
                    values.push_back(g.add("Conv", {g.add("Pad", {x, g.integers({0, 0, 1, 1, 0, 0, 1, 1})}),
                                                    g.constant({3, 3, 3, 3})}));
                    break;
            }
        }
        Graph before = g.finish({values.back(), any()});
        ASSERT_TRUE(infer_types(before).ok());
        Graph after = before;
        simplified(after);
        EXPECT_LE(after.nodes().size(), before.nodes().size() + 8);
        const auto equal = compare(before, after, seed, 1e-9);
        ASSERT_TRUE(equal.ok()) << seed << ": " << equal.error().text();
    }
}

}  // namespace
}  // namespace viridian::rewrite
