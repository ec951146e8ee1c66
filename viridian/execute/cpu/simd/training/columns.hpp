#pragma once
// Loops over tensors whose innermost axis holds the channels, for normalisations of each channel. A block of
// `width` channels has `rows` rows; consecutive rows lie `width` floats apart. Statistics of short pieces of
// rows are kept in f32 and joined in double, in an order that depends on the extents alone.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// Rows are dense rows of `width` floats each.
struct Rows {
    std::int64_t count = 0, width = 0;
};

// Joins the rows of x to the statistics of `before` rows: mean[i], and the sum of squared distances from it,
// squares[i] (Chan, Golub and LeVeque, "Updating formulae", 1979).
void add_column_moments(double* mean, double* squares, std::int64_t before, const float* x, Rows rows);
// Joins the statistics of `more` rows to those of `before` rows.
void join_column_moments(double* mean, double* squares, std::int64_t before, const double* more_mean,
                         const double* more_squares, std::int64_t more, std::int64_t width);

// Adds Σ g[i] to plain[i] and Σ g[i]·(x[i] − centre[i]) to along[i].
void add_column_gradients(double* plain, double* along, const float* g, const float* x, const float* centre,
                          Rows rows);

// Sets to[i] to (x[i] − centre[i])·factor[i] + shift[i].
void affine_columns(float* to, const float* x, const float* centre, const float* factor, const float* shift,
                    Rows rows);

// Sets to[i] to factor[i]·(g[i] − mean[i] − slope[i]·(x[i] − centre[i])).
struct CentredColumns {
    const float *factor, *mean, *slope, *centre;
};
void centred_column_gradient(float* to, const float* g, const float* x, const CentredColumns& c, Rows rows);

}  // namespace viridian::execute::cpu::simd
