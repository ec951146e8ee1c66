#include "viridian/rewrite/fold_cache.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace viridian::rewrite
