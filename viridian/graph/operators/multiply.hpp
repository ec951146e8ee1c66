#pragma once
// The hot loop of every reference contraction: a blocked matrix product with wide sums.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// A matrix inside an array: element (i, j) is at data[i · row + j · column].
template <class Scalar>
struct Matrix {
    const Scalar* data;
    std::int64_t row;
    std::int64_t column;
};

// sums[m × n], contiguous, += a[m × k] · b[k × n]; each sum runs along k in order.
template <class Scalar>
void multiply_add(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<Scalar> a, Matrix<Scalar> b,
                  Accumulator<Scalar>* sums);

}  // namespace viridian::graph
