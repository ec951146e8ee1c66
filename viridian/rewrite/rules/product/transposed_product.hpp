#pragma once
// Recognises transposes that keep matrices together, for transpose_before_matmul and transpose_after_matmul.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// Returns whether the permutation `p` keeps the last two axes last, in either order.
[[nodiscard]] bool keeps_matrices(const Dims& p);

// Returns whether such a permutation transposes every matrix.
[[nodiscard]] bool transposes_matrices(const Dims& p);

// A TransposedProduct holds the sizes of a random product on which the rules are certified: matrices of dims
// a = [..., i, k] and b = [..., k, j] with equal batch axes, and the permutation `perm` of a Transpose. One
// rule applies it to both operands, the other to the product.
struct TransposedProduct {
    Dims a, b, perm;
};

// Draws two operands of equal rank and a permutation that keeps their matrices together.
TransposedProduct random_transposed_product(RandomGraph& g);

}  // namespace viridian::rewrite
