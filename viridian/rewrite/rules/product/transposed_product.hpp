#pragma once
// Recognises transposes that keep matrices together, for transpose_before_matmul and transpose_after_matmul.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// Returns whether the permutation `p` keeps the last two axes last, in either order.
[[nodiscard]] bool keeps_matrices(const Dims& p);

// Returns whether such a permutation transposes every matrix.
[[nodiscard]] bool transposes_matrices(const Dims& p);

// A TransposedProduct has the sizes of a random instance.
struct TransposedProduct {
    Dims a, b, perm;  // dims of the operands, and the permutation
};

// Draws two operands of equal rank and a permutation that keeps their matrices together.
TransposedProduct random_transposed_product(RandomGraph& g);

}  // namespace viridian::rewrite
