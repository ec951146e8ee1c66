#include "viridian/rewrite/fold_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "viridian/base/random.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::rewrite {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

Tensor random_tensor(Random& random, Dims dims) {
    Tensor tensor(graph::ElementType::f32, std::move(dims));
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
    return tensor;
}

// w · s for weights of 300 × 300, then what a bias becomes through them: b · (w · s).
struct Scaled {
    Graph graph;
    graph::NodeId scaled, through;

    explicit Scaled(float scale) {
        Random random(1);
        const ValueId w = graph.add_constant("w", random_tensor(random, {300, 300}));
        const ValueId b = graph.add_constant("b", random_tensor(random, {1, 300}));
        const ValueId ws = graph.add("Mul", {w, graph.add_constant("s", Tensor::scalar(scale))});
        graph.set_outputs({graph.add("MatMul", {b, ws})});
        EXPECT_TRUE(graph::infer_types(graph).ok());
        scaled = graph.nodes()[0];
        through = graph.nodes()[1];
    }
    // The second node, once the first is folded by `cache`.
    Tensor fold(FoldCache& cache) {
        const auto first = cache.evaluate(graph, graph.node(scaled));
        EXPECT_TRUE(first.ok());
        const ValueId folded = graph.add_constant("folded", (*first)[0]);
        graph.replace_uses(graph.node(scaled).outputs[0], folded);
        const auto second = cache.evaluate(graph, graph.node(through));
        EXPECT_TRUE(second.ok());
        return (*second)[0];
    }
};

TEST(FoldCache, StandInsTellThemselvesApartAndRepeat) {
    FoldCache cache(Large::stand_in);
    const Scaled two(2), three(3);
    const auto a = cache.evaluate(two.graph, two.graph.node(two.scaled));
    const auto b = cache.evaluate(three.graph, three.graph.node(three.scaled));
    const auto again = cache.evaluate(Scaled(2).graph, two.graph.node(two.scaled));
    ASSERT_TRUE(a.ok() && b.ok() && again.ok());
    EXPECT_EQ((*a)[0].dims(), (Dims{300, 300}));
    EXPECT_FALSE((*a)[0].same_bytes((*b)[0]));
    EXPECT_NE((*a)[0].content_hash(), (*b)[0].content_hash());
    EXPECT_EQ((*a)[0].bytes(), (*again)[0].bytes());
    EXPECT_EQ((*a)[0].number(1000), 0);  // not computed
}

TEST(FoldCache, SmallResultsOfStandInsAreReal) {
    FoldCache names(Large::stand_in), values;
    const Tensor found = Scaled(2).fold(names);
    const Tensor expected = Scaled(2).fold(values);
    EXPECT_TRUE(found.same_bytes(expected));
    EXPECT_NE(expected.number(0), 0);
}

// The only node of a graph of constants, evaluated.
std::vector<Tensor> results(FoldCache& cache, const std::string& op, const std::vector<Tensor>& inputs,
                            const graph::Attributes& attributes, std::size_t outputs = 1) {
    Graph graph;
    std::vector<ValueId> ids;
    for (const Tensor& input : inputs) ids.push_back(graph.add_constant("c", input));
    graph::Node made;
    made.op = op;
    made.inputs = ids;
    made.attributes = attributes;
    const graph::NodeId node = graph.add_node(made, outputs);
    graph.set_outputs(graph.node(node).outputs);
    EXPECT_TRUE(graph::infer_types(graph).ok());
    auto found = cache.evaluate(graph, graph.node(node));
    EXPECT_TRUE(found.ok());
    return found.ok() ? *std::move(found) : std::vector<Tensor>();
}
Tensor sizes(const std::vector<std::int64_t>& list) {
    Tensor tensor(graph::ElementType::i64, {static_cast<std::int64_t>(list.size())});
    std::ranges::copy(list, tensor.mutable_values<std::int64_t>().begin());
    return tensor;
}

TEST(FoldCache, MergedAndSplitAgainWeightsAreThoseOfBefore) {
    FoldCache cache(Large::stand_in);
    Random random(2);
    const Tensor a = random_tensor(random, {300, 300}), b = random_tensor(random, {300, 40});
    const Tensor both = results(cache, "Concat", {a, b}, {{"axis", std::int64_t{1}}})[0];
    EXPECT_EQ(both.number(1000), 0);  // a stand-in
    const auto parts = results(cache, "Split", {both, sizes({300, 40})}, {{"axis", std::int64_t{-1}}}, 2);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].bytes(), a.bytes());
    EXPECT_EQ(parts[1].bytes(), b.bytes());

    const auto halves = results(cache, "Split", {a, sizes({250, 50})}, {{"axis", std::int64_t{0}}}, 2);
    ASSERT_EQ(halves.size(), 2U);
    EXPECT_EQ(results(cache, "Concat", halves, {{"axis", std::int64_t{0}}})[0].bytes(), a.bytes());
}

// The same extents are not enough: another order, another axis, other extents, a part of another split.
TEST(FoldCache, OtherSplitsAreNotUndone) {
    Random random(3);
    const Tensor a = random_tensor(random, {300, 300}), b = random_tensor(random, {300, 300});
    const auto of = [&](Large large) {
        FoldCache cache(large);
        const auto split = [&](const Tensor& whole, std::vector<std::int64_t> list, std::int64_t axis) {
            return results(cache, "Split", {whole, sizes(list)}, {{"axis", axis}}, list.size());
        };
        const auto join = [&](const std::vector<Tensor>& parts, std::int64_t axis) {
            return results(cache, "Concat", parts, {{"axis", axis}})[0];
        };
        const Tensor both = join({a, b}, 1);
        std::vector<Tensor> found = {join({split(a, {150, 150}, 0)[1], split(a, {150, 150}, 0)[0]}, 0),
                                     join({split(a, {30, 240, 30}, 0)[0], split(a, {10, 240, 50}, 0)[1],
                                           split(a, {30, 240, 30}, 0)[2]},
                                          0),
                                     join({split(a, {150, 150}, 1)[0], split(a, {150, 150}, 1)[1]}, 0)};
        for (const Tensor& part : split(both, {299, 301}, 1)) found.push_back(part);
        for (const Tensor& part : split(both, {250, 50}, 0)) found.push_back(part);
        std::vector<Tensor> rows;  // small, and so computed
        for (const Tensor& tensor : found)
            rows.push_back(
                results(cache, "ReduceSum", {tensor, sizes({1})}, {{"keepdims", std::int64_t{0}}})[0]);
        return rows;
    };
    const auto names = of(Large::stand_in), values = of(Large::computed);
    ASSERT_EQ(names.size(), values.size());
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(names[i].same_bytes(values[i])) << i;
}

// 2^60 additions, were each computed for whoever asks.
TEST(FoldCache, SharedPartsAreComputedOnce) {
    FoldCache cache(Large::stand_in);
    Tensor sum(graph::ElementType::f32, {300, 300});
    std::ranges::fill(sum.mutable_values<float>(), 1.0F);
    for (int i = 0; i < 60; ++i) sum = results(cache, "Add", {sum, sum}, {})[0];
    const Tensor row = results(cache, "ReduceMax", {sum, sizes({1})}, {{"keepdims", std::int64_t{0}}})[0];
    EXPECT_EQ(row.number(299), std::ldexp(1.0, 60));
}

}  // namespace
}  // namespace viridian::rewrite
