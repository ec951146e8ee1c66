// Which forward node the nodes of a step that differentiate belong to, and in which order gradients are
// summed.
#include <gmock/gmock.h>

#include "viridian/gradient/step.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::gradient {
namespace {

using testing::ElementsAre;

Tensor matrix(const Dims& dims, const std::vector<double>& values) {
    return Tensor::of<double>(ElementType::f64, dims, values);
}

TEST(Twins, TheGradientOfASharedParameterBelongsToItsFirstReader) {
    Graph forward;
    const ValueId x = forward.add_input("x", {ElementType::f64, graph::shape_of({4, 3})});
    const ValueId w = forward.add_constant("w", matrix({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
    const ValueId hidden = forward.add(op::MatMul, {x, w}, {}, "first");
    forward.set_outputs({forward.add(op::MatMul, {hidden, w}, {}, "second")});
    ASSERT_TRUE(infer_types(forward).ok());
    const auto step = training_step(forward, {});
    ASSERT_TRUE(step.ok()) << step.error().text();
    int sums = 0;
    for (const NodeId id : step->graph.nodes()) {
        const Node& node = step->graph.node(id);
        const bool differentiates =
            node.phase == graph::Phase::backward || node.phase == graph::Phase::weight;
        EXPECT_TRUE(!differentiates || !node.twin.empty()) << node.name;
        if (node.op == op::Sum && node.phase == graph::Phase::weight) {
            ++sums;
            EXPECT_EQ(node.twin, "first");
        }
    }
    EXPECT_EQ(sums, 1);
}

// Sums of rounded numbers depend on their order, so the order is part of the step: from the last reader to
// the first, wherever nodes stand in the file.
TEST(Twins, ContributionsAreSummedFromTheLastReaderToTheFirst) {
    for (const bool turned : {false, true}) {
        Graph forward;
        const ValueId x = forward.add_input("x", {ElementType::f64, graph::shape_of({4, 3})});
        const ValueId w = forward.add_constant("w", matrix({1, 3}, {1, 2, 3}));
        const ValueId first = forward.add(op::Mul, {x, w}, {}, "first");
        const ValueId second = forward.add(op::Sub, {turned ? w : first, turned ? first : w}, {}, "second");
        forward.set_outputs({forward.add(op::Mul, {turned ? w : second, turned ? second : w}, {}, "third")});
        ASSERT_TRUE(infer_types(forward).ok());
        const auto step = training_step(forward, {});
        ASSERT_TRUE(step.ok()) << step.error().text();
        std::vector<std::string> twins;
        for (const NodeId id : step->graph.nodes()) {
            const Node& node = step->graph.node(id);
            if (node.op != op::Sum || node.phase != graph::Phase::weight) continue;
            for (const ValueId part : node.inputs) twins.push_back(step->graph.producer(part)->twin);
        }
        EXPECT_THAT(twins, ElementsAre("third", "second", "first")) << turned;
    }
}

}  // namespace
}  // namespace viridian::gradient
