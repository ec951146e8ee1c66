#pragma once
// Makes tensors of rank 0.
#include "viridian/graph/tensor.hpp"

namespace viridian::gradient {

// Returns `value` as a tensor of rank 0 of the type `element`: f64, f32, f16, bf16, i64, i32 or boolean.
[[nodiscard]] graph::Tensor scalar_of(graph::ElementType element, double value);

}  // namespace viridian::gradient
