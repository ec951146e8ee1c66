// DropoutMask in files: its nodes call functions in standard operators, and are read as DropoutMask again if
// these functions say what it means.
#include <gtest/gtest.h>

#include "tests/onnx/models.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using tests::ModelProto;

// Masks of two streams, one of a constant shape and one of the shape of an input.
Graph graph_of_masks() {
    Graph g;
    const graph::TensorType number{ElementType::i64, graph::Shape{}};
    const ValueId seed = g.add_input("seed", number), step = g.add_input("step", number);
    const ValueId first = g.add_input("first_sample", number);
    const ValueId x = g.add_input("x", {ElementType::f32, graph::Shape{graph::Dimension("N"), 3}});
    const ValueId ratio = g.add_constant("ratio", Tensor::scalar(0.3F));
    const ValueId shape = g.add_constant("shape", Tensor::i64({2}, graph::Dims{2, 5}));
    const ValueId shape_of_x = g.add(graph::op::Shape, {x});
    std::vector<ValueId> outputs;
    for (const std::int64_t stream : {0, 4})
        for (const ValueId dims : {shape, shape_of_x})
            outputs.push_back(
                g.add(graph::op::DropoutMask, {seed, step, first, ratio, dims}, {{"stream", stream}}));
    g.set_outputs(outputs);
    EXPECT_TRUE(infer_types(g).ok());
    return g;
}

std::vector<Tensor> inputs() {
    return {Tensor::scalar(std::int64_t{-7}), Tensor::scalar(std::int64_t{3}),
            Tensor::scalar(std::int64_t{12}), Tensor(ElementType::f32, {4, 3})};
}

ModelProto written(const Graph& graph) {
    ModelProto model;
    EXPECT_TRUE(model.ParseFromString(*serialize(graph)));
    return model;
}

TEST(DropoutMask, SurvivesAFile) {
    const Graph graph = graph_of_masks();
    const ModelProto model = written(graph);
    EXPECT_EQ(model.functions_size(), 2) << "one for each stream";
    for (const auto& function : model.functions())
        for (const auto& node : function.node()) EXPECT_EQ(node.domain(), "") << node.op_type();
    for (const auto& import : model.opset_import())
        if (import.domain().empty()) {
            EXPECT_EQ(import.version(), 18);
        }

    const auto again = parse(model.SerializeAsString(), "again");
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(structural_hash(*again), structural_hash(graph));
    int masks = 0;
    for (const graph::NodeId id : again->nodes()) {
        if (again->node(id).op != graph::op::DropoutMask) continue;
        ++masks;
        EXPECT_TRUE(again->node(id).bodies.empty());
    }
    EXPECT_EQ(masks, 4);
    const auto before = evaluate(graph, inputs()), after = evaluate(*again, inputs());
    ASSERT_TRUE(before.ok() && after.ok());
    for (std::size_t i = 0; i < before->size(); ++i) EXPECT_TRUE((*before)[i].same_bytes((*after)[i]));
}

// A function that bears the name and means something else is read as what it says.
TEST(DropoutMask, IsNotReadFromAnotherMeaning) {
    const Graph graph = graph_of_masks();
    ModelProto model = written(graph);
    int changed = 0;
    for (auto& function : *model.mutable_functions())
        for (auto& node : *function.mutable_node())
            if (node.op_type() == "GreaterOrEqual") node.set_op_type("Less"), ++changed;
    EXPECT_EQ(changed, 2);
    const auto other = parse(model.SerializeAsString(), "again");
    ASSERT_TRUE(other.ok()) << other.error().text();
    EXPECT_TRUE(verify(*other).ok());
    for (const graph::NodeId id : other->nodes()) EXPECT_NE(other->node(id).op, graph::op::DropoutMask);
    const auto kept = evaluate(graph, inputs()), dropped = evaluate(*other, inputs());
    ASSERT_TRUE(kept.ok() && dropped.ok()) << dropped.error().text();
    for (std::size_t i = 0; i < kept->size(); ++i)
        for (std::int64_t e = 0; e < (*kept)[i].count(); ++e)
            EXPECT_NE((*kept)[i].integer(e), (*dropped)[i].integer(e));

    // A call with another stream than its function's means the function's.
    ModelProto moved = written(graph);
    for (auto& node : *moved.mutable_graph()->mutable_node())
        for (auto& attribute : *node.mutable_attribute())
            if (attribute.name() == "stream") attribute.set_i(99);
    const auto same = parse(moved.SerializeAsString(), "again");
    ASSERT_TRUE(same.ok()) << same.error().text();
    const auto values = evaluate(*same, inputs());
    ASSERT_TRUE(values.ok());
    for (std::size_t i = 0; i < kept->size(); ++i) EXPECT_TRUE((*values)[i].same_bytes((*kept)[i]));
}

}  // namespace
}  // namespace viridian::onnx
