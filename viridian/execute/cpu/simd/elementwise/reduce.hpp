#pragma once
// Reduces contiguous floats, for the sums, products, maxima and the like of Reduce* and normalisations.
// Pieces that are short enough are reduced in f32; their results are added up in double.
#include <cstdint>

namespace viridian::execute::cpu::simd {

enum class Fold : std::uint8_t { sum, sum_square, sum_absolute, product, max, min };

[[nodiscard]] double neutral(Fold fold);
// total ∘ x[0] ∘ … ∘ x[n − 1]; max and min keep NaN.
[[nodiscard]] double fold_row(Fold fold, double total, const float* x, std::int64_t n);
// totals[i] = totals[i] ∘ x[i].
void fold_into(Fold fold, double* totals, const float* x, std::int64_t n);

// Σ (x[i] − mean)².
[[nodiscard]] double squared_distance(const float* x, float mean, std::int64_t n);
// to[i] = from[i]·scale + shift.
void affine(float* to, const float* from, float scale, float shift, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
