#pragma once
// These functions help to make the random graphs on which the rules of this folder are certified. They add
// operators that only move elements, and element-wise functions with which the rules exchange those.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// Adds one of the functions Neg, Tanh, Relu, Exp and Erf of `x` to `g`, and returns its result.
ValueId random_function(RandomGraph& g, ValueId x);

// Adds a random Transpose, Reshape, Flatten or Unsqueeze of `x` to `g`, and returns its result. `dims` are
// the three extents of `x`.
ValueId random_movement(RandomGraph& g, ValueId x, const Dims& dims);

// Adds one given movement of `x` to `g`, and returns its result. `dims` are the three extents of `x`.
// `kind` chooses the movement:
// - 0: the Transpose by `permutation`,
// - 1: the Reshape to [dims[1], -1],
// - 2: the Unsqueeze of axis 1.
// Rules about two operands that are moved alike call this twice, with equal arguments except `x`.
ValueId movement_of_kind(RandomGraph& g, std::int64_t kind, ValueId x, const Dims& dims,
                         const Dims& permutation);

}  // namespace viridian::rewrite
