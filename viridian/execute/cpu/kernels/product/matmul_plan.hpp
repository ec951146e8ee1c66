#pragma once
// A MatmulPlan reads a region that multiplies by a constant matrix for our micro-kernels: the product, a
// bias, and steps that they can do.
#include "viridian/execute/cpu/kernels/product/matrix.hpp"

namespace viridian::execute::cpu {

struct MatmulPlan {
    MatrixProduct product;
    graph::ValueId bias = graph::ValueId::none;
    std::vector<EpilogueStep> steps;  // after the bias
    graph::Dims result;               // as the graph says

    // Returns whether there are enough rows for each thread to take some.
    [[nodiscard]] bool by_rows(int threads) const { return threads > 1 && product.m >= 14 * threads; }
    // Returns a function that gives the weight of column `n` of the result and column `k` of the source.
    [[nodiscard]] auto weight(const Task& task) const {
        const auto values = task.graph.constant(product.b)->values<float>();
        return [values, p = product](std::int64_t n, std::int64_t k, std::int64_t /*tap*/) {
            return values[static_cast<std::size_t>(p.transpose_b ? n * p.k + k : k * p.n + n)];
        };
    }
    // Returns how the constant matrix is stored, for the key of the packed weights.
    [[nodiscard]] const char* packing() const { return product.transpose_b ? "matrix transposed" : "matrix"; }
};

// Returns the plan of a region, or nothing if it is no such product.
[[nodiscard]] std::optional<MatmulPlan> matmul_plan(const Task& task);

}  // namespace viridian::execute::cpu
