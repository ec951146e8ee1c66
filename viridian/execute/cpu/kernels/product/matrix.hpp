#pragma once
// Reads a MatMul or Gemm node as a batched product [batch…, M, K] × [batch…, K, N] with a bias along N.
#include <optional>

#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu {

// A MatrixProduct is this product, with the sizes of its matrices.
struct MatrixProduct {
    graph::ValueId a = graph::ValueId::none, b = graph::ValueId::none, bias = graph::ValueId::none;
    bool transpose_a = false, transpose_b = false;  // how the operands are stored
    bool constant_b = false, constant_bias = true;
    graph::Dims a_dims, b_dims, result;  // as stored, of equal rank (2 where b is one matrix)
    std::int64_t m = 0, n = 0, k = 0;
    bool collapsed = false;  // one matrix: the leading axes of A and the result became rows
};

// Returns nothing unless the head of the region is an f32 MatMul or Gemm that fits; A is a region input. B
// and the bias may be constants or, as in a training step, inputs of the region too.
[[nodiscard]] std::optional<MatrixProduct> matrix_product(const Task& task);

// Returns the memory orders worth writing a result of this rank in.
[[nodiscard]] std::vector<plan::Layout> result_orders(std::size_t rank);
// Returns those worth reading an operand in: also with rows and columns exchanged, as in gradients.
[[nodiscard]] std::vector<plan::Layout> operand_orders(std::size_t rank, bool right);

}  // namespace viridian::execute::cpu
