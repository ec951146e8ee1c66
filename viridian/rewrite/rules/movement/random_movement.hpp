#pragma once
// Adds random operators that only move elements, and functions to exchange with them, to the instances of the
// rules in this folder.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// Adds Neg, Tanh, Relu, Exp or Erf of `x`.
ValueId random_function(RandomGraph& g, ValueId x);

// Adds a Transpose, Reshape, Flatten or Unsqueeze of `x`, whose three extents are `dims`.
ValueId random_movement(RandomGraph& g, ValueId x, const Dims& dims);

// Adds the Transpose by `permutation` (kind 0), the Reshape to [dims[1], -1] (kind 1) or the Unsqueeze of
// axis 1 (kind 2) of `x`, whose three extents are `dims`. Equal arguments give two operands the same
// movement.
ValueId movement_of_kind(RandomGraph& g, std::int64_t kind, ValueId x, const Dims& dims,
                         const Dims& permutation);

}  // namespace viridian::rewrite
