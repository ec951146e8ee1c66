// The rows of the private operators of gradients, which say what the bodies of their nodes do not.
#include <gtest/gtest.h>

#include "viridian/graph/data_flow.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {
namespace {

std::vector<TensorType> types(const std::vector<Dims>& dims) {
    std::vector<TensorType> made;
    for (const Dims& each : dims) made.push_back({ElementType::f32, shape_of(each)});
    return made;
}

// The loops of an operation as text: "2 3 +5" loops over 2, 3 and 5, and sums over the last.
std::string loops(KnownOperator op, const std::vector<Dims>& inputs, const std::vector<Dims>& outputs,
                  Attributes attributes = {}) {
    Node node;
    node.op = op;
    node.attributes = std::move(attributes);
    std::string text;
    for (const Axis& axis : iteration_space({node, types(inputs), types(outputs)}))
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", axis.reduced ? "+" : "", axis.size);
    return text;
}

TEST(TrainingGradients, HaveIterationSpaces) {
    const Attributes two = {{"group", std::int64_t{2}}};
    EXPECT_EQ(loops(op::ConvGradInput, {{7, 8, 5}, {8, 3, 4}}, {{7, 6, 9}}, two), "7 6 9 +4 +4");
    EXPECT_EQ(loops(op::ConvGradWeight, {{7, 6, 9}, {7, 8, 5}}, {{8, 3, 4}}, two), "8 3 4 +7 +5");
    EXPECT_EQ(loops(op::AveragePoolGrad, {{1, 2, 5}}, {{1, 2, 9}}, {{"kernel_shape", Dims{3}}}), "1 2 9 +3");
    EXPECT_EQ(loops(op::MaxPoolGrad, {{1, 2, 5}, {1, 2, 5}}, {{1, 2, 9}}), "1 2 5");
    EXPECT_EQ(loops(op::SoftmaxGrad, {{4, 5, 6}, {4, 5, 6}}, {{4, 5, 6}}, {{"axis", std::int64_t{1}}}),
              "4 +5 6");
    const std::vector<Dims> rows = {{4, 5, 6}};
    EXPECT_EQ(loops(op::LayerNormalizationGradInput, rows, rows, {{"axis", std::int64_t{-2}}}), "4 +5 +6");
    EXPECT_EQ(loops(op::LayerNormalizationGradScale, rows, {{6}}, {{"axis", std::int64_t{2}}}), "+4 +5 6");
    EXPECT_EQ(loops(op::BatchNormalizationTraining, rows, rows), "+4 5 +6");
    EXPECT_EQ(loops(op::BatchNormalizationGrad, rows, rows), "+4 5 +6");
    EXPECT_EQ(loops(op::GroupNormalizationGrad, rows, rows), "4 +5 +6");
    EXPECT_EQ(loops(op::LRNGrad, rows, rows, {{"size", std::int64_t{3}}}), "4 5 6 +3");
}

// A file may give a node of ours any body, and so tensors of any rank.
TEST(TrainingGradients, HaveIterationSpacesOfAnyTensors) {
    EXPECT_EQ(loops(op::ConvGradInput, {{}, {3}}, {{2}}), "2");
    EXPECT_EQ(loops(op::ConvGradInput, {{2, 2}, {3, 1}}, {{2}}, {{"group", std::int64_t{0}}}), "2");
    EXPECT_EQ(loops(op::ConvGradWeight, {{}, {3}}, {{2}}), "2");
    EXPECT_EQ(loops(op::BatchNormalizationGrad, {{}}, {{}}), "");
}

// The class is that of the row, although most operations of the body are element by element.
TEST(TrainingGradients, CountWhatTheirBodiesDo) {
    const TensorType type = {ElementType::f32, Shape{4, 5}};
    auto body = std::make_shared<Graph>();
    const ValueId g = body->add_input("g", type), y = body->add_input("y", type);
    body->set_outputs({body->add("Exp", {body->add("Mul", {g, y})})});
    Graph graph;
    Node node;
    node.op = op::SoftmaxGrad;
    node.inputs = {graph.add_input("g", type), graph.add_input("y", type)};
    node.bodies = {body};
    graph.set_outputs(graph.node(graph.add_node(std::move(node))).outputs);
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_EQ(graph.value(graph.outputs()[0]).type, type);
    const auto flow = data_flow(graph);
    ASSERT_TRUE(flow.ok());
    EXPECT_EQ(flow->nodes[0].flop.value, 2 * 20);
    EXPECT_EQ(flow->nodes[0].operator_class, OperatorClass::normalization);
}

}  // namespace
}  // namespace viridian::graph
