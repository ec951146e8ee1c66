#pragma once
// multiply_add() is the inner loop of every reference contraction: a blocked matrix product whose sums are
// wider than its elements.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// A Matrix lies inside an array: element (i, j) is at data[i · row + j · column].
template <class Scalar>
struct Matrix {
    const Scalar* data;
    std::int64_t row;
    std::int64_t column;
};

// Products say which matrices numpy's matmul of [batch_a…, m, k] and [batch_b…, k, n] multiplies when
// batches broadcast. A vector is one row on the left and one column on the right.
struct Products {
    std::int64_t m, n, k;
    Dims a_batch, b_batch;
    std::vector<std::int64_t> from_a, from_b;  // per product, the index of the matrix on each side
};
// Returns the products of operands with dimensions `a` and `b`. Errors: mismatch (batches that do not
// broadcast).
[[nodiscard]] Result<Products> products_of(Dims a, Dims b);

// ProductSum is the type of the sums: double for float, and modulo 2^64 for integers.
template <class Scalar>
using ProductSum =
    std::conditional_t<std::is_same_v<Scalar, std::int64_t>, std::uint64_t, Accumulator<Scalar>>;

// Adds a[m × k] · b[k × n] to sums[m × n], which is contiguous. Each sum runs along k in order.
template <class Scalar>
void multiply_add(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<Scalar> a, Matrix<Scalar> b,
                  ProductSum<Scalar>* sums);

}  // namespace viridian::graph
