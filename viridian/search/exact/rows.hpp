#pragma once
// Holds the inner loops of the exact solver, on rows of costs, in the widest vectors that this processor has.
// Matrices are row-major; entries may be infinite.
#include <cstddef>
#include <span>

namespace viridian::search::rows {

// Sets out[r] to the least entry of row r.
void row_minima(const double* matrix, std::size_t rows, std::size_t columns, double* out);
// Sets out[c] to the least entry of column c.
void column_minima(const double* matrix, std::size_t rows, std::size_t columns, double* out);
// Adds factor · amounts[r] to every entry of row r.
void add_to_rows(double* matrix, std::size_t rows, std::size_t columns, const double* amounts, double factor);
// Adds factor · amounts[c] to every entry of column c.
void add_to_columns(double* matrix, std::size_t rows, std::size_t columns, const double* amounts,
                    double factor);
// Sets out[i] to before[i] + Σ rows[k][i] for every i below `count`.
void add(const double* before, std::span<const double* const> rows, std::size_t count, double* out);
// Sets out[r] to the least before[i] + Σ matrices[k](r, i) over all columns i.
void least_sums(const double* before, std::span<const double* const> matrices, std::size_t rows,
                std::size_t columns, double* out);

}  // namespace viridian::search::rows
