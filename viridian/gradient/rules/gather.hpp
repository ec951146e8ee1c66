#pragma once
// Computes the gradient of reading from places along an axis, which several families need.
#include "viridian/gradient/rule.hpp"

namespace viridian::gradient {

// Returns the gradient of Gather(x, indices, axis) with respect to x, which has the dimensions `dims`: the
// sum of all g that were read from a place, and 0 where nothing was read.
[[nodiscard]] Term gather_gradient(Term g, Term indices, std::int64_t axis, const Dims& dims);

}  // namespace viridian::gradient
