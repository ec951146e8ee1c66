#pragma once
// Computes weighted sums of a few rows, or of a few elements of one row: the inner loops of Resize.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// Sets to[i] to Σ over k < taps: weights[k]·plane[cells[k]·n + i], for i < n.
void blend_rows(float* to, const float* plane, const std::int64_t* cells, const float* weights,
                std::int64_t taps, std::int64_t n);
// Sets to[j] to Σ over k < taps: weights[k·n + j]·row[cells[k·n + j]], for j < n.
void blend_elements(float* to, const float* row, const std::int32_t* cells, const float* weights,
                    std::int64_t taps, std::int64_t n);

}  // namespace viridian::execute::cpu::simd
