#pragma once
// Finds a constant that scales or shifts the input of a MatMul or Gemm with constant weights, for
// fold_matmul_input_scale and fold_matmul_input_shift.
#include "viridian/base/random.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {

struct MatmulInput {
    const Node* product;  // MatMul or Gemm
    const Node* before;   // Mul or Div, Add or Sub: makes the product's first input of x and c
    ValueId x, c;
    std::int64_t summed;  // extent of the axis that the product sums over
    bool rows;            // the summed axis is the first of the weights

    // Returns the operands if the first input of `node`, a MatMul or Gemm with a constant matrix, is a sum or
    // difference (`role` term) or a product or quotient (`role` factor) of x and a constant, nothing else
    // reads that input, and the constant varies at most along the summed axis.
    static std::optional<MatmulInput> of(const Editor& editor, const Node& node, Role role);

    // Returns the constant as one number for each index of the summed axis.
    [[nodiscard]] ValueId vector(Editor& editor) const;
};

// Makes a random MatMul or Gemm behind a node of `role` with a constant.
Graph matmul_input_instance(Random& random, ElementType element, Role role);

}  // namespace viridian::rewrite
