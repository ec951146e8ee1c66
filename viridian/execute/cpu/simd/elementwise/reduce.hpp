#pragma once
// Reduces contiguous floats, for the sums, products, maxima and the like of Reduce* and normalisations.
// Pieces that are short enough are reduced in f32; their results are added up in double.
#include <cstdint>

namespace viridian::execute::cpu::simd {

enum class Fold : std::uint8_t { sum, sum_square, sum_absolute, product, max, min };

// Returns the total of no element.
[[nodiscard]] double neutral(Fold fold);
// Returns total ∘ x[0] ∘ … ∘ x[n − 1]; max and min keep NaN.
[[nodiscard]] double fold_row(Fold fold, double total, const float* x, std::int64_t n);
// Sets totals[i] to totals[i] ∘ x[i].
void fold_into(Fold fold, double* totals, const float* x, std::int64_t n);

// Returns Σ (x[i] − mean)².
[[nodiscard]] double squared_distance(const float* x, float mean, std::int64_t n);
// Sets to[i] to from[i]·scale + shift.
void affine(float* to, const float* from, float scale, float shift, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
