#include "viridian/plan/with_casts.hpp"

#include <gtest/gtest.h>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::plan {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

// product → relu read by two products; the first three in bf16, the last in f32.
Graph forked() {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, 4})});
    const auto weights = [&](float value) {
        return graph.add_constant("w", Tensor::f32({4, 4}, std::vector<float>(16, value)));
    };
    const ValueId a = graph.add("Relu", {graph.add("MatMul", {x, weights(0.3F)}, {}, "a")}, {}, "relu");
    graph.set_outputs(
        {graph.add("MatMul", {a, weights(1.0F)}, {}, "b"), graph.add("MatMul", {a, weights(0.1F)}, {}, "c")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

Assignment assigned(const Graph& graph, const std::vector<ElementType>& by_node) {
    Assignment assignment;
    const graph::Uses uses = graph::uses(graph);
    for (const NodeId id : graph.nodes()) {
        const Format format{plain(2), by_node[assignment.regions.size()], {}};
        assignment.regions.push_back(
            {make_region(graph, uses, {id}), {"kernel", {format}, {format}, Aliasing::none, 0, {}, {}}});
    }
    return assignment;
}

TEST(WithCasts, OneCastPerValueAndDirectionAndF32AtTheEdges) {
    const Graph graph = forked();
    const ElementType low = ElementType::bf16, exact = ElementType::f32;
    const auto cast = with_casts(graph, assigned(graph, {low, low, low, exact}));
    ASSERT_TRUE(cast.ok()) << cast.error().text();
    ASSERT_TRUE(verify(*cast).ok()) << verify(*cast).error().text();
    EXPECT_EQ(count_casts(*cast), 3U) << "x down, relu up for c, b up for the output";
    for (std::size_t i = 0; i < 2; ++i) {
        const graph::Value& output = cast->value(cast->outputs()[i]);
        EXPECT_EQ(output.type.element, exact);
        EXPECT_EQ(output.name, graph.value(graph.outputs()[i]).name);
    }
    for (const NodeId id : cast->nodes())
        if (const graph::Node& node = cast->node(id); node.op == graph::op::MatMul) {
            const ElementType wanted = node.name == "c" ? exact : low;
            for (const ValueId input : node.inputs)
                EXPECT_EQ(cast->value(input).type.element, wanted) << node.name;
        }
    Graph inferred = *cast;  // by the operators' own rules
    ASSERT_TRUE(infer_types(inferred).ok());
    const std::vector<Tensor> inputs = {
        Tensor::f32({2, 4}, std::vector<float>{1, 2, 3, 4, -1, 0.1F, 7, 0.5F})};
    const auto before = evaluate(graph, inputs), after = evaluate(*cast, inputs);
    ASSERT_TRUE(before.ok() && after.ok());
    for (std::size_t i = 0; i < 2; ++i)
        for (std::int64_t k = 0; k < 8; ++k)
            EXPECT_NEAR((*after)[i].number(k), (*before)[i].number(k),
                        0.01 * std::abs((*before)[i].number(k)) + 1e-6);
}

TEST(WithCasts, WeightsAloneAreStoredInBf16AndReadInF32) {
    const Graph graph = forked();
    const ElementType low = ElementType::bf16, exact = ElementType::f32;
    const auto stored = with_weights_cast(graph, assigned(graph, {low, low, low, exact}));
    ASSERT_TRUE(stored.ok()) << stored.error().text();
    ASSERT_TRUE(verify(*stored).ok()) << verify(*stored).error().text();
    EXPECT_EQ(count_casts(*stored), 2U) << "the weights of a and b";
    for (const NodeId id : stored->nodes()) {
        const graph::Node& node = stored->node(id);
        if (node.op == graph::op::Cast) {
            EXPECT_NE(stored->constant(node.inputs[0]), nullptr);
            EXPECT_EQ(stored->value(node.inputs[0]).type.element, low);
        } else {
            for (const ValueId input : node.inputs) EXPECT_EQ(stored->value(input).type.element, exact);
        }
    }
    // What the weights round to is what it computes.
    Graph rounded;
    const ValueId x = rounded.add_input("x", {ElementType::f32, graph::shape_of({2, 4})});
    const auto weights = [&](float value, bool round) {
        const float kept = round ? graph::from_bfloat16(graph::to_bfloat16(value)) : value;
        return rounded.add_constant("w", Tensor::f32({4, 4}, std::vector<float>(16, kept)));
    };
    const ValueId a = rounded.add("Relu", {rounded.add("MatMul", {x, weights(0.3F, true)})});
    rounded.set_outputs(
        {rounded.add("MatMul", {a, weights(1.0F, true)}), rounded.add("MatMul", {a, weights(0.1F, false)})});
    const std::vector<Tensor> inputs = {
        Tensor::f32({2, 4}, std::vector<float>{1, 2, 3, 4, -1, 0.1F, 7, 0.5F})};
    const auto wanted = evaluate(rounded, inputs), got = evaluate(*stored, inputs);
    ASSERT_TRUE(wanted.ok() && got.ok());
    for (std::size_t i = 0; i < 2; ++i)
        for (std::int64_t k = 0; k < 8; ++k) EXPECT_EQ((*got)[i].number(k), (*wanted)[i].number(k));
}

TEST(WithCasts, NothingChangesWhereNothingRounds) {
    const Graph graph = forked();
    const auto cast = with_casts(graph, assigned(graph, std::vector<ElementType>(4, ElementType::f32)));
    ASSERT_TRUE(cast.ok());
    EXPECT_EQ(structural_hash(*cast), structural_hash(graph));
    EXPECT_EQ(count_casts(*cast), 0U);
}

}  // namespace
}  // namespace viridian::plan
