#include "viridian/graph/graph.hpp"

#include <gtest/gtest.h>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::graph {
namespace {

TensorType f32(Dims dims) { return {ElementType::f32, shape_of(dims)}; }

// y = relu(conv(x, w) + x)
Graph residual_block() {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({1, 2, 3, 3}));
    std::vector<float> weights(2 * 2 * 3 * 3, 0.5F);
    const ValueId w = graph.add_constant("w", Tensor::f32({2, 2, 3, 3}, weights));
    const ValueId conv = graph.add("Conv", {x, w}, {{"pads", Dims{1, 1, 1, 1}}}, "conv");
    const ValueId sum = graph.add("Add", {conv, x}, {}, "sum");
    graph.set_outputs({graph.add("Relu", {sum}, {}, "y")});
    return graph;
}

TEST(Graph, InfersVerifiesAndEvaluates) {
    Graph graph = residual_block();
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_EQ(text(graph.value(graph.outputs()[0]).type), "f32[1,2,3,3]");
    EXPECT_TRUE(verify(graph).ok());
    const std::vector<float> ones(18, 1.0F);
    const auto outputs = evaluate(graph, {Tensor::f32({1, 2, 3, 3}, ones)});
    ASSERT_TRUE(outputs.ok());
    EXPECT_FLOAT_EQ((*outputs)[0].values<float>()[0],
                    1 + 0.5F * 2 * 4);  // a corner sees four cells of two channels
    EXPECT_FLOAT_EQ((*outputs)[0].values<float>()[4], 1 + 0.5F * 2 * 9);
}

TEST(Graph, CopiesAreIndependent) {
    const Graph original = residual_block();
    Graph copy = original;
    copy.replace_uses(copy.outputs()[0], copy.inputs()[0]);
    remove_dead_nodes(copy);
    EXPECT_EQ(copy.nodes().size(), 0U);
    EXPECT_EQ(original.nodes().size(), 3U);
    copy.add_input("x", f32({1}));
    EXPECT_EQ(copy.value(copy.inputs()[1]).name, "x_1");
}

TEST(Graph, StructuralHashIgnoresNamesNumberingAndDeadNodes) {
    Graph a = residual_block();
    Graph b = residual_block();
    b.add("Relu", {b.inputs()[0]}, {}, "dead");
    b.set_name(b.outputs()[0], "renamed");
    EXPECT_EQ(structural_hash(a), structural_hash(b));
    Node node = b.node(NodeId{0});
    node.attributes["group"] = std::int64_t{2};
    b.set_node(NodeId{0}, node);
    EXPECT_NE(structural_hash(a), structural_hash(b));
}

TEST(Graph, CyclesAreReported) {
    Graph graph = residual_block();
    Node node = graph.node(NodeId{1});
    node.inputs[1] = graph.outputs()[0];
    graph.set_node(NodeId{1}, node);
    EXPECT_EQ(topological_order(graph).error().code, ErrorCode::malformed);
    EXPECT_FALSE(verify(graph).ok());
}

TEST(Tensor, NumbersBeyondIntegersSaturate) {
    const float huge = std::numeric_limits<float>::infinity();
    const Tensor tensor = Tensor::f32({5}, std::array{huge, -1e30F, std::nanf(""), -2.9F, 3e9F});
    EXPECT_EQ(tensor.integers(),
              (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min(), 0, -2, 3'000'000'000}));
}

TEST(Tensor, WritingToSharedBytesCopies) {
    const std::vector<float> values = {1, 2, 3};
    Tensor a = Tensor::f32({3}, values);
    const std::uint64_t before = a.content_hash();
    Tensor b = a;
    b.mutable_values<float>()[0] = 9;
    EXPECT_EQ(a.values<float>()[0], 1);
    EXPECT_EQ(a.content_hash(), before);
    EXPECT_NE(b.content_hash(), before);
}

TEST(ElementType, HalfAndBfloatRoundTrip) {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if (const float f = from_half(half); f == f) {
            ASSERT_EQ(to_half(f), half);
        }
        if (const float f = from_bfloat16(half); f == f) {
            ASSERT_EQ(to_bfloat16(f), half);
        }
    }
    EXPECT_EQ(to_half(65520.0F), 0x7c00);
    EXPECT_EQ(to_half(65519.0F), 0x7bff);
}

TEST(Shape, BroadcastsLikeNumpy) {
    EXPECT_EQ(*broadcast({3, 1}, {2}), (Dims{3, 2}));
    EXPECT_FALSE(broadcast({3}, {2}).ok());
    EXPECT_EQ(element_count({std::int64_t{1} << 60}).error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace viridian::graph
