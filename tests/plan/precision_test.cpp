#include "viridian/plan/precision.hpp"

#include <gmock/gmock.h>

#include "viridian/graph/infer.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

graph::TensorType f32(const graph::Dims& dims) { return {graph::ElementType::f32, graph::shape_of(dims)}; }

std::vector<std::string> exact_operators(const Graph& graph) {
    const std::vector<bool> exact = f32_nodes(graph);
    std::vector<std::string> names;
    for (const NodeId id : graph.nodes())
        if (exact[index(id)]) names.push_back(graph.node(id).name);
    return names;
}

TEST(Precision, OperatorsThatNobodyKnowsAreDenied) {
    graph::Node node;
    node.op = "Conv";
    EXPECT_EQ(bf16_safety(node), Safety::allow);
    node.op = graph::Operator("Conv", "com.example");
    EXPECT_EQ(bf16_safety(node), Safety::deny) << "another domain's Conv is not known";
    node = {};
    node.op = "NobodyKnows";
    EXPECT_EQ(bf16_safety(node), Safety::deny);
}

// research/precision.md, 2: what rounds nothing of its own is clear, so that no denied class spreads from it.
TEST(Precision, ComparesIndexesAndCastsAreClear) {
    for (const char* op : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "ArgMax", "ArgMin",
                           "TopK", "Cast", "CastLike", "Not", "Shape", "Where", "Max", "Min"}) {
        graph::Node node;
        node.op = op;
        EXPECT_EQ(bf16_safety(node), Safety::clear) << op;
    }
}

// An attention mask as exporters write it: (1 − Cast(m)) · −10000 added to scores.
TEST(Precision, AMasksCastHoldsNothingBack) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({4, 4}));
    const ValueId m = graph.add_input("m", {graph::ElementType::i64, graph::shape_of({4, 4})});
    const ValueId cast = graph.add("Cast", {m}, {{"to", std::int64_t{1}}}, "cast");
    const ValueId sum = graph.add("Add", {x, cast}, {}, "sum");
    graph.set_outputs({graph.add("Softmax", {sum}, {}, "softmax")});
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_THAT(exact_operators(graph), testing::IsEmpty());
}

// Exp → Relu → Add is denied as far as the Add; the product behind it may round again, and so may what
// follows it.
TEST(Precision, WhatADeniedOperatorReachesStaysInF32) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({4, 4}));
    const ValueId w = graph.add_constant("w", graph::Tensor::f32({4, 4}, std::vector<float>(16, 1)));
    const ValueId before = graph.add("Tanh", {x}, {}, "before");
    const ValueId e = graph.add("Exp", {before}, {}, "exp");
    const ValueId r = graph.add("Relu", {e}, {}, "relu");
    const ValueId sum = graph.add("Add", {r, x}, {}, "sum");
    const ValueId product = graph.add("MatMul", {sum, w}, {}, "product");
    const ValueId after = graph.add("Tanh", {product}, {}, "after");
    const ValueId shape = graph.add("Relu", {e}, {}, "alone");  // reaches a product only
    graph.set_outputs({after, graph.add("MatMul", {shape, w}, {}, "other")});
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_THAT(exact_operators(graph), testing::UnorderedElementsAre("exp", "relu", "sum"));
}

TEST(Precision, PortsThatRound) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({4, 4}));
    const ValueId y = graph.add("Relu", {graph.add("Add", {x, x}, {}, "add")}, {}, "relu");
    graph.set_outputs({y});
    ASSERT_TRUE(infer_types(graph).ok());
    const Region region = make_region(graph, graph::uses(graph), graph.nodes());
    const Format exact{plain(2), graph::ElementType::f32, {}}, low{plain(2), graph::ElementType::bf16, {}};
    const NodeId add = graph.nodes()[0], relu = graph.nodes()[1];
    const auto at = [&](const Format& in, const Format& out, NodeId node) {
        return rounds_at(graph, region, Choice{"k", {in}, {out}, Aliasing::none, 0, {}, {}},
                         [&](NodeId id) { return id == node; });
    };
    EXPECT_TRUE(at(low, exact, add));
    EXPECT_FALSE(at(low, exact, relu)) << "inside a region everything is f32";
    EXPECT_TRUE(at(exact, low, relu));
    EXPECT_FALSE(at(exact, low, add));
    EXPECT_FALSE(rounds(graph, region, Choice{"k", {exact}, {exact}, Aliasing::none, 0, {}, {}}));
}

}  // namespace
}  // namespace viridian::plan
