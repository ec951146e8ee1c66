#include "viridian/profile/weights.hpp"

#include <gtest/gtest.h>

#include "viridian/base/system/machine.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::profile {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Tensor;

// x·W + b, W of `rows` by 32.
Graph product(std::int64_t rows) {
    Graph graph;
    const auto x = graph.add_input("x", {ElementType::f32, graph::shape_of({2, rows})});
    const auto w = graph.add_constant("w", Tensor(ElementType::f32, {rows, 32}));
    const auto b = graph.add_constant("b", Tensor(ElementType::f32, {32}));
    graph.set_outputs({graph.add("Gemm", {x, w, b})});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

plan::AssignedRegion stored_in(const Graph& graph, ElementType type) {
    plan::AssignedRegion assigned;
    assigned.region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    assigned.choice.inputs = assigned.choice.outputs = {plan::Format{plan::plain(2), type, {}}};
    return assigned;
}

TEST(Weights, AreCountedAsTheyAreStored) {
    const Graph graph = product(100);
    const auto f32 = stored_in(graph, ElementType::f32), bf16 = stored_in(graph, ElementType::bf16);
    EXPECT_EQ(weight_bytes(graph, f32.region, f32.choice), Bytes(100 * 32 * 4 + 32 * 4));
    EXPECT_EQ(weight_bytes(graph, bf16.region, bf16.choice), Bytes(100 * 32 * 2 + 32 * 4));
}

TEST(Weights, OfANetworkThatFitsTheCacheMakeNoTraffic) {
    const Graph small = product(100);
    plan::Plan plan;
    plan.assignment.regions = {stored_in(small, ElementType::f32)};
    EXPECT_TRUE(weights_stay_cached(small));
    EXPECT_EQ(memory_traffic(small, plan), Bytes(0));
    const Graph large = product(this_machine().l3.value / 2 / (32 * 4) + 1);
    plan.assignment.regions = {stored_in(large, ElementType::f32)};
    EXPECT_FALSE(weights_stay_cached(large));
    EXPECT_EQ(memory_traffic(large, plan),
              weight_bytes(large, plan.assignment.regions[0].region, plan.assignment.regions[0].choice));
}

// Relu reads and writes its values once. What is beyond half of the last-level cache goes to memory.
TEST(Activations, BeyondHalfOfTheLastLevelCacheAreTraffic) {
    const std::int64_t half = this_machine().l3.value / 2, few = half / 16, many = half / 4 + 1000;
    for (const std::int64_t values : {few, many}) {
        Graph graph;
        graph.set_outputs(
            {graph.add("Relu", {graph.add_input("x", {ElementType::f32, graph::shape_of({values})})})});
        ASSERT_TRUE(graph::infer_types(graph).ok());
        plan::AssignedRegion relu;
        relu.region = plan::make_region(graph, graph::uses(graph), graph.nodes());
        const plan::Format f32{plan::plain(1), ElementType::f32, {}},
            bf16{plan::plain(1), ElementType::bf16, {}};
        relu.choice.inputs = relu.choice.outputs = {f32};
        const Bytes beyond(values == few ? 0 : 2 * 4 * values - half);
        EXPECT_EQ(activation_traffic(graph, relu.region, relu.choice), beyond);
        plan::Plan plan;
        plan.assignment.regions = {relu};
        EXPECT_EQ(memory_traffic(graph, plan), beyond);
        // In bf16 half as much is moved, and a conversion moves both.
        relu.choice.inputs = relu.choice.outputs = {bf16};
        EXPECT_EQ(activation_traffic(graph, relu.region, relu.choice),
                  Bytes(values == few ? 0 : std::max<std::int64_t>(0, 2 * 2 * values - half)));
        EXPECT_EQ(activation_traffic(graph::Dims{values}, f32, bf16),
                  Bytes(values == few ? 0 : 6 * values - half));
        // A view moves nothing.
        plan.assignment.regions[0].choice.aliasing = plan::Aliasing::view;
        EXPECT_EQ(memory_traffic(graph, plan), Bytes(0));
    }
}

}  // namespace
}  // namespace viridian::profile
