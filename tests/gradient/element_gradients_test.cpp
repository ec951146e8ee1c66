// The rows of GeluGrad, GatherGrad and CrossEntropyGrad, which say what the bodies of their nodes do not.
#include <gtest/gtest.h>

#include "viridian/gradient/rule.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::gradient {
namespace {

// The loops of an operation as text: "2 +7 3" loops over 2, 7 and 3, and sums over the second.
std::string loops(graph::KnownOperator op, const std::vector<Dims>& inputs, const Dims& output,
                  Attributes attributes = {}) {
    Node node;
    node.op = op;
    node.attributes = std::move(attributes);
    std::vector<graph::TensorType> types;
    for (const Dims& dims : inputs) types.push_back({ElementType::f32, graph::shape_of(dims)});
    const std::vector<graph::TensorType> outputs = {{ElementType::f32, graph::shape_of(output)}};
    std::string text;
    for (const graph::Axis& axis : graph::iteration_space({node, types, outputs}))
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", axis.reduced ? "+" : "", axis.size);
    return text;
}

TEST(ElementGradients, HaveIterationSpaces) {
    EXPECT_EQ(loops(op::GeluGrad, {{2, 3}, {2, 3}}, {2, 3}), "2 3");
    EXPECT_EQ(loops(op::GatherGrad, {{2, 7, 3}, {7}}, {2, 50, 3}, {{"axis", std::int64_t{1}}}), "2 +7 3");
    EXPECT_EQ(loops(op::GatherGrad, {{4, 6, 3}, {4, 6}}, {50, 3}), "+4 +6 3");
    EXPECT_EQ(loops(op::CrossEntropyGrad, {{}, {4, 5, 6}, {4, 6}}, {4, 5, 6}), "4 +5 6");
}

// A file may give a node of ours any body, and so tensors of any rank.
TEST(ElementGradients, HaveIterationSpacesOfAnyTensors) {
    EXPECT_EQ(loops(op::GatherGrad, {{3}, {2, 2}}, {3}, {{"axis", std::int64_t{-5}}}), "3");
    EXPECT_EQ(loops(op::GatherGrad, {{3}, {2, 2}}, {3}, {{"axis", std::int64_t{9}}}), "3");
    EXPECT_EQ(loops(op::CrossEntropyGrad, {{}, {}, {}}, {}), "");
}

// The body of GeluGrad holds an Exp, which alone is denied.
TEST(ElementGradients, SayWhetherTheyMayRunInBf16) {
    const auto safety = [](graph::KnownOperator op) { return graph::Operator(op).row()->precision.safety; };
    EXPECT_EQ(safety(op::Exp), graph::NumericSafety::deny);
    EXPECT_EQ(safety(op::GeluGrad), graph::NumericSafety::infer);
    EXPECT_EQ(safety(op::GatherGrad), graph::NumericSafety::infer);
    EXPECT_EQ(safety(op::CrossEntropyGrad), graph::NumericSafety::deny);
}

}  // namespace
}  // namespace viridian::gradient
