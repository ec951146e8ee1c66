#pragma once
// Recognises products of matrices, for the rules in this folder.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Returns whether both operands of the MatMul `product` are matrices or batches of them.
[[nodiscard]] bool multiplies_matrices(const Editor& editor, const Node& product);

// Returns the MatMul of matrices or batches of them that defines `value`, if nothing else reads it; else
// null.
[[nodiscard]] const Node* matrix_product(const Editor& editor, ValueId value);

}  // namespace viridian::rewrite
