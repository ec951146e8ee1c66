#pragma once
// A product with a constant matrix as our micro-kernels see it: a bias, then steps that they can do.
#include "viridian/execute/cpu/matrix.hpp"

namespace viridian::execute::cpu {

struct MatmulPlan {
    MatrixProduct product;
    graph::ValueId bias = graph::ValueId::none;
    std::vector<Step> steps;  // after the bias
    graph::Dims result;       // as the graph says
};

[[nodiscard]] std::optional<MatmulPlan> matmul_plan(const Task& task);

}  // namespace viridian::execute::cpu
