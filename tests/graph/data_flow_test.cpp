#include "viridian/graph/data_flow.hpp"

#include <gtest/gtest.h>

#include "viridian/graph/infer.hpp"

namespace viridian::graph {
namespace {

// y = relu(x + w) with w of 20 numbers.
Graph biased_relu(Shape shape) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, std::move(shape)});
    const std::vector<float> weights(20, 0.5F);
    const ValueId sum = graph.add("Add", {x, graph.add_constant("w", Tensor::f32({20}, weights))}, {}, "sum");
    graph.set_outputs({graph.add("Relu", {sum}, {}, "y")});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(MemoryNeed, AddsTheConstantsToWhatIsAliveAtOnce) {
    const Graph graph = biased_relu({10, 20});
    const auto need = memory_need(graph);
    ASSERT_TRUE(need.ok());
    EXPECT_EQ(need->constants.value, 20 * 4);
    EXPECT_EQ(need->values.value, 3 * 200 * 4);  // x, the sum and y
    EXPECT_EQ(need->total().value, 20 * 4 + 3 * 200 * 4);
    EXPECT_EQ(data_flow(graph)->peak_activations, need->values);
}

TEST(MemoryNeed, ShapesThatAreNotKnownCountAsNothingAndHugeOnesAreRefused) {
    const auto unknown = memory_need(biased_relu({Dimension(), 20}));
    ASSERT_TRUE(unknown.ok());
    EXPECT_EQ(unknown->values.value, 0);
    EXPECT_EQ(unknown->constants.value, 20 * 4);
    constexpr std::int64_t extent = std::int64_t{1} << 30;
    Graph huge;  // whose types nobody inferred
    huge.set_outputs({huge.add_input("x", {ElementType::f32, shape_of({extent, 1024, 20})})});
    EXPECT_EQ(memory_need(huge).error().code, ErrorCode::limit_exceeded);
    EXPECT_GT(memory_need(biased_relu({extent, 20}))->values.value, 200'000'000'000);
}

}  // namespace
}  // namespace viridian::graph
