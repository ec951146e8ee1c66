// What only rounding decides: x·W − x·V for nearly equal W and V, of which every kernel that sums in another
// order than the reference makes other outputs.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/fixed_prices.hpp"
#include "viridian/base/json.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/optimize/optimize.hpp"

namespace viridian::optimize {
namespace {

using graph::Tensor;
using graph::ValueId;

graph::Graph cancelling_products() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> w(64 * 64), v(64 * 64);
    for (std::size_t i = 0; i < w.size(); ++i) {
        w[i] = normal(random);
        v[i] = w[i] + 1e-6F * normal(random);
    }
    graph::Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({8, 64})});
    const ValueId one = graph.add("MatMul", {x, graph.add_constant("w", Tensor::f32({64, 64}, w))});
    const ValueId two = graph.add("MatMul", {x, graph.add_constant("v", Tensor::f32({64, 64}, v))});
    graph.set_outputs({graph.add("Sub", {one, two})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

TEST(Rounding, ThatDecidesTheOutputsKeepsTheGraphAndTheReferenceKernels) {
    auto real = execute::make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    ASSERT_TRUE(real.ok()) << real.error().text();
    execute::FixedPrices device(*std::move(real));
    device.cheapest = "simd:matmul";  // sums lane by lane
    cost::Database database = *cost::Database::temporary();
    const auto costs = MeasuredCosts::open(device, database, {.meter = "model"}, "f32");
    ASSERT_TRUE(costs.ok()) << costs.error().text();
    Listener listener;
    const auto result = optimize(cancelling_products(), **costs, &device, {}, listener);
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_TRUE(result->rewrites_dropped);
    EXPECT_TRUE(result->certificate.empty());
    ASSERT_TRUE(result->proof);
    EXPECT_TRUE(result->proof->proof.passed());
    EXPECT_GT(result->proof->only_reference.size(), 0U);
}

}  // namespace
}  // namespace viridian::optimize
