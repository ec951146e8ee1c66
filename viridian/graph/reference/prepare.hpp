#pragma once
// prepare() is the first line of a reference kernel. It checks the inputs with the shape rule of the
// operator's row and allocates the outputs, filled with zeros, so that the loops after it need no checks.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// Outputs whose extents depend on the data are left empty, for the kernel to make. Errors: malformed (an
// input is missing), those of the shape rule, limit_exceeded.
template <class Scalar>
[[nodiscard]] Result<void> prepare(Call<Scalar>& call);

}  // namespace viridian::graph
