#pragma once
// Holds the inner loops of the exact solver, on rows of costs, in the widest vectors that this processor has.
// Matrices are row-major; entries may be infinite.
#include <cstddef>
#include <span>

namespace viridian::search::rows {

// out[r] = least entry of row r.
void row_minima(const double* matrix, std::size_t rows, std::size_t columns, double* out);
// out[c] = least entry of column c.
void column_minima(const double* matrix, std::size_t rows, std::size_t columns, double* out);
// matrix(r, c) += factor · amounts[r]
void add_to_rows(double* matrix, std::size_t rows, std::size_t columns, const double* amounts, double factor);
// matrix(r, c) += factor · amounts[c]
void add_to_columns(double* matrix, std::size_t rows, std::size_t columns, const double* amounts,
                    double factor);
// out[i] = before[i] + Σ rows[k][i]
void add(const double* before, std::span<const double* const> rows, std::size_t count, double* out);
// out[r] = min over i of before[i] + Σ matrices[k](r, i)
void least_sums(const double* before, std::span<const double* const> matrices, std::size_t rows,
                std::size_t columns, double* out);

}  // namespace viridian::search::rows
