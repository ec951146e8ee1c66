// A model in f16 or of quantised integers, taken in f32: same inputs and outputs, no slow types inside.
#include "viridian/session/as_f32.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::session {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

Tensor halves(graph::Dims dims, float first) {
    Tensor tensor(ElementType::f16, std::move(dims));
    float value = first;
    for (std::uint16_t& each : tensor.mutable_values<std::uint16_t>()) {
        each = graph::to_half(value);
        value = value > 1 ? value - 1.93F : value + 0.37F;
    }
    return tensor;
}

int count_half(const Graph& graph) {
    int found = 0;
    for (const graph::NodeId id : graph.nodes())
        for (const ValueId output : graph.node(id).outputs)
            found += graph.value(output).type.element == ElementType::f16 ? 1 : 0;
    return found;
}

double worst_difference(const Graph& a, const Graph& b, const std::vector<Tensor>& inputs) {
    const auto one = graph::evaluate(a, inputs), other = graph::evaluate(b, inputs);
    EXPECT_TRUE(one.ok() && other.ok());
    if (!one.ok() || !other.ok()) return INFINITY;
    double worst = 0;
    for (std::int64_t i = 0; i < (*one)[0].count(); ++i)
        worst = std::max(worst, std::abs((*one)[0].number(i) - (*other)[0].number(i)));
    return worst;
}

TEST(AsF32, AHalfModelKeepsItsInputsAndOutputsAndComputesInF32) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f16, graph::shape_of({4, 16})});
    const ValueId w = graph.add_constant("w", halves({16, 8}, 0.1F));
    const ValueId y = graph.add("MatMul", {x, w}, {}, "product");
    graph.set_outputs({graph.add("Relu", {y}, {}, "active")});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    const auto wide = as_f32(graph);
    ASSERT_TRUE(wide.ok()) << wide.error().text();
    EXPECT_EQ(wide->constants, 1);
    EXPECT_EQ(wide->nodes, 2);
    EXPECT_EQ(wide->graph.value(wide->graph.inputs()[0]).type, graph.value(x).type);
    const graph::Value& output = wide->graph.value(wide->graph.outputs()[0]);
    EXPECT_EQ(output.name, graph.value(graph.outputs()[0]).name);
    EXPECT_EQ(output.type, graph.value(graph.outputs()[0]).type);
    EXPECT_EQ(count_half(wide->graph), 1) << "the output's Cast alone";
    EXPECT_LT(worst_difference(graph, wide->graph, {halves({4, 16}, -0.7F)}), 0.02);
}

// x → quantise → dequantise → product with dequantised weights → quantise → dequantise → Relu.
Graph quantised_product() {
    Graph graph;
    const auto pair = [&](ValueId value, float scale) {
        const ValueId by = graph.add_constant("scale", Tensor::scalar(scale));
        const ValueId zero = graph.add_constant("zero", Tensor(ElementType::i8, {}));
        return graph.add("DequantizeLinear", {graph.add("QuantizeLinear", {value, by, zero}), by, zero});
    };
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({4, 16})});
    Tensor weights(ElementType::i8, {16, 8});
    std::int8_t next = -100;
    for (std::int8_t& w : weights.mutable_values<std::int8_t>())
        w = next = static_cast<std::int8_t>(next + 37);
    const ValueId w = graph.add("DequantizeLinear", {graph.add_constant("w", weights),
                                                     graph.add_constant("by", Tensor::scalar(0.01F))});
    graph.set_outputs({graph.add("Relu", {pair(graph.add("MatMul", {pair(x, 0.01F), w}), 0.1F)})});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

TEST(AsF32, QuantisedPairsAreLeftOutAndWeightsFold) {
    const Graph graph = quantised_product();
    const auto wide = as_f32(graph);
    ASSERT_TRUE(wide.ok()) << wide.error().text();
    EXPECT_EQ(wide->quantised_pairs, 2);
    Graph simple = wide->graph;
    ASSERT_TRUE(rewrite::simplify(simple).ok());
    for (const graph::NodeId id : simple.nodes()) {
        EXPECT_NE(simple.node(id).op, graph::op::QuantizeLinear);
        EXPECT_NE(simple.node(id).op, graph::op::DequantizeLinear);
    }
    Tensor input(ElementType::f32, {4, 16});
    float value = -1;
    for (float& each : input.mutable_values<float>())
        each = value = value > 1 ? value - 1.93F : value + 0.07F;
    EXPECT_LT(worst_difference(graph, simple, {input}), 0.15) << "half a step of the last pair, and rounding";
}

// The least integer stands for 0, as ONNX Runtime's quantiser has it where it leaves out a Relu, and the
// largest one for 2.55; per channel, the second channel's numbers reach from -2 to 0.55.
TEST(AsF32, APairClampsAsItsIntegersDo) {
    for (const bool per_channel : {false, true}) {
        Graph graph;
        const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, 3})});
        Tensor zero(ElementType::u8, per_channel ? graph::Dims{2} : graph::Dims{});
        if (per_channel) zero.mutable_values<std::uint8_t>()[1] = 200;
        const ValueId z = graph.add_constant("zero", zero);
        const ValueId by =
            graph.add_constant("scale", per_channel ? Tensor::f32({2}, std::vector<float>{0.01F, 0.01F})
                                                    : Tensor::scalar(0.01F));
        const graph::Attributes axis = {{"axis", std::int64_t{0}}};
        graph.set_outputs({graph.add(
            "Neg",
            {graph.add("DequantizeLinear", {graph.add("QuantizeLinear", {x, by, z}, axis), by, z}, axis)})});
        ASSERT_TRUE(graph::infer_types(graph).ok());
        const auto wide = as_f32(graph);
        ASSERT_TRUE(wide.ok()) << wide.error().text();
        EXPECT_EQ(wide->quantised_pairs, 1);
        EXPECT_EQ(wide->graph.value(wide->graph.outputs()[0]).name, graph.value(graph.outputs()[0]).name);
        const Tensor input = Tensor::f32({2, 3}, std::vector<float>{-3, 0.5F, 9, -3, 0.5F, 9});
        EXPECT_LT(worst_difference(graph, wide->graph, {input}), 1e-6);
        const auto outputs = graph::evaluate(wide->graph, {input});
        ASSERT_TRUE(outputs.ok());
        EXPECT_EQ((*outputs)[0].number(0), 0);
        EXPECT_NEAR((*outputs)[0].number(3), per_channel ? 2 : 0, 1e-6);
    }
}

// A pair with another scale on each side scales; it is no rounding.
TEST(AsF32, APairThatScalesStays) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({8})});
    const ValueId q = graph.add("QuantizeLinear", {x, graph.add_constant("a", Tensor::scalar(0.1F)),
                                                   graph.add_constant("zero", Tensor(ElementType::i8, {}))});
    const ValueId d =
        graph.add("DequantizeLinear", {q, graph.add_constant("b", Tensor::scalar(0.2F)),
                                       graph.add_constant("zero", Tensor(ElementType::i8, {}))});
    graph.set_outputs({graph.add("Relu", {d})});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    const auto wide = as_f32(graph);
    ASSERT_TRUE(wide.ok()) << wide.error().text();
    EXPECT_FALSE(wide->any());
    EXPECT_EQ(graph::structural_hash(wide->graph), graph::structural_hash(graph));
}

// ONNX Runtime's quantiser writes the scale of a bias as a vector of length 1 and its zero point as a scalar.
TEST(AsF32, AScaleAndAZeroPointOfOneElementMayDifferInRank) {
    Graph graph;
    const ValueId q = graph.add_input("q", {ElementType::i32, graph::shape_of({8})});
    const ValueId scale = graph.add_constant("scale", Tensor::f32({1}, std::vector<float>{0.5F}));
    const ValueId zero = graph.add_constant("zero", Tensor(ElementType::i32, {}));
    graph.set_outputs({graph.add("DequantizeLinear", {q, scale, zero})});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    Tensor input(ElementType::i32, {8});
    input.mutable_values<std::int32_t>()[7] = 6;
    const auto outputs = graph::evaluate(graph, {input});
    ASSERT_TRUE(outputs.ok()) << outputs.error().text();
    EXPECT_EQ((*outputs)[0].number(7), 3);
}

TEST(AsF32, BodiesAreWidened) {
    const auto branch = [](const char* op) {
        Graph body;
        const ValueId x = body.add_input("x", {ElementType::f16, graph::shape_of({8})});
        body.set_outputs({body.add(op, {x})});
        return std::make_shared<const Graph>(std::move(body));
    };
    Graph graph;
    const ValueId yes = graph.add_input("yes", {ElementType::boolean, graph::Shape{}});
    const ValueId x = graph.add_input("x", {ElementType::f16, graph::shape_of({8})});
    graph::Node node;
    node.op = graph::op::If;
    node.name = "either";
    node.inputs = {yes, x};
    node.bodies = {branch("Exp"), branch("Neg")};
    graph.set_outputs({graph.node(graph.add_node(std::move(node))).outputs[0]});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    const auto wide = as_f32(graph);
    ASSERT_TRUE(wide.ok()) << wide.error().text();
    Tensor truth(ElementType::boolean, {});
    *truth.mutable_bytes() = std::byte{1};
    EXPECT_EQ(wide->nodes, 3);
    EXPECT_LT(worst_difference(graph, wide->graph, {truth, halves({8}, -0.7F)}), 0.01);
}

}  // namespace
}  // namespace viridian::session
