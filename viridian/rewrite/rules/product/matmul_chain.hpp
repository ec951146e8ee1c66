#pragma once
// Reads and makes products of three matrices, for associate_left and associate_right.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// Returns the product that input `side` of the MatMul `outer` is, if nothing else reads it and all three are
// matrices or batches of them; else null.
[[nodiscard]] const Node* inner_product(const Editor& editor, const Node& outer, std::size_t side);

// A MatmulChain has the operands of a product of three matrices, from left to right.
struct MatmulChain {
    ValueId a, b, c;
};

// Draws operands a [i, j], b [j, k] and c [k, l], each with or without a batch axis before it.
MatmulChain random_matmul_chain(RandomGraph& g);

}  // namespace viridian::rewrite
