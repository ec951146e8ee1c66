#pragma once
// The first line of a reference kernel: the row's own shape rule checks the concrete inputs, and the outputs
// it states are allocated, zero-filled. The loops behind it need no checks of their own.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// Outputs whose extents only the data tells stay undefined. Errors: those of the shape rule; limit_exceeded.
template <class Scalar>
[[nodiscard]] Result<void> prepare(Call<Scalar>& call);

}  // namespace viridian::graph
