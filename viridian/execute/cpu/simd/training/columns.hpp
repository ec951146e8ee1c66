#pragma once
// Loops over tensors whose innermost axis holds the channels, for normalisations of each channel. A block of
// `width` channels has `rows` rows; consecutive rows lie `width` floats apart. Statistics of short pieces of
// rows are kept in f32 and joined in double, in an order that depends on the extents alone.
#include <cstdint>

#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"

namespace viridian::execute::cpu::simd {

// Rows are dense rows of `width` floats each.
struct Rows {
    std::int64_t count = 0, width = 0;
    [[nodiscard]] std::int64_t elements() const { return count * width; }
};

// Joins the rows of x to the statistics of `before` rows: mean[i], and the sum of squared distances from it,
// squares[i] (Chan, Golub and LeVeque, "Updating formulae", 1979).
void add_column_moments(double* mean, double* squares, std::int64_t before, const float* x, Rows rows);
// Joins the statistics of `more` rows to those of `before` rows.
void join_column_moments(double* mean, double* squares, std::int64_t before, const double* more_mean,
                         const double* more_squares, std::int64_t more, std::int64_t width);

// Adds Σ a[i] to plain[i] and Σ a[i]·(x[i] − centre[i]) to along[i], with a[i] = g[i] if `rectified` is null
// or rectified[i] > 0, else 0.
void add_column_gradients(double* plain, double* along, const float* g, const float* rectified,
                          const float* x, const float* centre, Rows rows);

// Sets to[i] to max(lower, (x[i] − centre[i])·factor[i] + shift[i] + addend[i]). NaN stays NaN.
void affine_columns(float* to, const float* x, const float* centre, const float* factor, const float* shift,
                    Rows rows, const AffineEpilogue& epilogue);

// Sets to[i] to factor[i]·(a[i] − mean[i] − slope[i]·(x[i] − centre[i])), with a[i] as above.
struct CentredColumns {
    const float *factor, *mean, *slope, *centre;
};
void centred_column_gradient(float* to, const float* g, const float* rectified, const float* x,
                             const CentredColumns& c, Rows rows);

}  // namespace viridian::execute::cpu::simd
