#include "viridian/execute/step_timer.hpp"

#include <gtest/gtest.h>

#include "tests/support/greedy.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::execute {
namespace {

// Every step of a plan has a time of its own in every pass, whether weights, indices or an input that is
// overwritten come with it.
TEST(StepTimer, EveryStepIsTimed) {
    const auto device = make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    ASSERT_TRUE(device.ok());
    graph::Graph graph;
    const auto f32 = graph::ElementType::f32;
    const auto x = graph.add_input("x", {f32, graph::shape_of({1, 16, 9, 9})});
    const auto which = graph.add_input("which", {graph::ElementType::i64, graph::shape_of({3})});
    const auto w = graph.add_constant("w", graph::Tensor(f32, {16, 16, 3, 3}));
    const auto y = graph.add("Relu", {graph.add("Conv", {graph.add("Sigmoid", {x}), w})});
    graph.set_outputs({graph.add("Gather", {y, which})});
    ASSERT_TRUE(graph::infer_types(graph).ok());
    auto assignment = assign(**device, graph, single_node_regions(graph),
                             [](const auto&, const auto&) { return std::size_t{0}; });
    ASSERT_TRUE(assignment.ok());
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    ASSERT_TRUE(plan.ok());
    const auto steps = (*device)->make_step_timer(graph, *plan);
    ASSERT_TRUE(steps.ok()) << steps.error().text();
    for (int i = 0; i < 3; ++i) {
        const auto pass = (*steps)->run();
        ASSERT_TRUE(pass.ok()) << pass.error().text();
        ASSERT_EQ(pass->steps.size(), plan->steps.size());
        for (const double seconds : pass->steps) EXPECT_GT(seconds, 0);
    }
}

}  // namespace
}  // namespace viridian::execute
