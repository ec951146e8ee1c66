#pragma once
// Finds the constant that scales or shifts the input of a product with a constant matrix.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {

struct MatmulInput {
    const Node* product;  // MatMul or Gemm
    const Node* before;   // Mul or Div, Add or Sub: makes the product's first input of x and c
    ValueId x, c;
    std::int64_t summed;  // extent of the axis that the product sums over
    bool rows;            // the summed axis is the first of the weights

    // Returns the operands of the node before the MatMul or Gemm `node`, if that node is a sum or difference
    // (`role` term) or a product or quotient (`role` factor) that nothing else reads, and its constant varies
    // along the summed axis at most.
    static std::optional<MatmulInput> of(const Editor& editor, const Node& node, Role role);

    // Returns the constant as one number for each index of the summed axis.
    [[nodiscard]] ValueId vector(Editor& editor) const;
};

// Makes a random MatMul or Gemm behind a node of `role` with a constant.
Graph matmul_input_instance(Random& random, ElementType element, Role role);

}  // namespace viridian::rewrite
