#pragma once
// Reduces contiguous floats, for the sums, products, maxima and the like of Reduce* and normalisations.
// Pieces that are short enough are reduced in f32; their results are added up in double.
#include <cstdint>
#include <limits>

namespace viridian::execute::cpu::simd {

enum class Fold : std::uint8_t { sum, sum_square, sum_absolute, product, max, min };

// Returns the total of no element.
[[nodiscard]] double neutral(Fold fold);
// Returns total ∘ x[0] ∘ … ∘ x[n − 1]; max and min keep NaN.
[[nodiscard]] double fold_row(Fold fold, double total, const float* x, std::int64_t n);
// Sets totals[i] to totals[i] ∘ x[i].
void fold_into(Fold fold, double* totals, const float* x, std::int64_t n);

// Deviations are the sums Σ (x[i] − centre) and Σ (x[i] − centre)². The first tells how far the mean is from
// a centre that is a rounded mean.
struct Deviations {
    double sum = 0, squares = 0;
};
[[nodiscard]] Deviations deviations(const float* x, float centre, std::int64_t n);
struct AffineEpilogue {
    const float* addend = nullptr;  // null counts as zeroes
    float lower = -std::numeric_limits<float>::infinity();
};
// Sets to[i] to max(lower, (from[i] − centre)·scale + shift + addend[i]). NaN stays NaN.
void centred_affine(float* to, const float* from, float centre, float scale, float shift, std::int64_t n,
                    const AffineEpilogue& epilogue = {});

}  // namespace viridian::execute::cpu::simd
