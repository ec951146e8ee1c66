#include "viridian/execute/proof.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "viridian/execute/inputs.hpp"

namespace viridian::execute {
namespace {

using graph::Tensor;

TEST(Proof, RelativeErrorAndNaNs) {
    const float nan = std::nanf("");
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> a = {3, 4, 0, nan, infinity};
    const std::vector<float> b = {3, 4, 5, nan, infinity};
    EXPECT_DOUBLE_EQ(relative_error(Tensor::f32({5}, a), Tensor::f32({5}, a)), 0);
    EXPECT_NEAR(relative_error(Tensor::f32({5}, a), Tensor::f32({5}, b)), 5 / std::sqrt(50.0), 1e-12);
    EXPECT_TRUE(same_nan_pattern(Tensor::f32({5}, a), Tensor::f32({5}, b)));
    const std::vector<float> c = {nan, 4, 5, nan, infinity};
    EXPECT_FALSE(same_nan_pattern(Tensor::f32({5}, c), Tensor::f32({5}, b)));
    EXPECT_TRUE(std::isinf(relative_error(Tensor::f32({5}, c), Tensor::f32({5}, b))));
    EXPECT_TRUE(std::isinf(relative_error(Tensor::f32({1, 5}, b), Tensor::f32({5}, b))));
}

TEST(Inputs, IndicesStayInsideTheirTable) {
    graph::Graph graph;
    const auto ids = graph.add_input("ids", {graph::ElementType::i64, graph::Shape{2, 50}});
    const auto table = graph.add_constant("table", Tensor(graph::ElementType::f32, {7, 3}));
    graph.set_outputs({graph.add("Gather", {table, graph.add("Identity", {ids})})});
    const auto inputs = seeded_inputs(graph, 1);
    ASSERT_TRUE(inputs.ok());
    std::int64_t largest = 0;
    for (const std::int64_t id : (*inputs)[0].values<std::int64_t>()) {
        EXPECT_GE(id, 0);
        largest = std::max(largest, id);
    }
    EXPECT_EQ(largest, 6);
    EXPECT_TRUE((*seeded_inputs(graph, 1))[0].same_bytes((*inputs)[0]));
    EXPECT_FALSE((*seeded_inputs(graph, 2))[0].same_bytes((*inputs)[0]));
}

}  // namespace
}  // namespace viridian::execute
