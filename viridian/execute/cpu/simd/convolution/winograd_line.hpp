#pragma once
// Transforms the tiles of one-dimensional Winograd convolutions F(m, r), for kernels of one row or one
// column, on blocks of 16 channels: m + r − 1 products give m results (Winograd 1980; by Cook and Toom's
// interpolation). The points are 0, ±a and infinity, so that a pair ±a shares its even and its odd part.
#include <cstdint>

#include "viridian/execute/cpu/simd/convolution/winograd.hpp"

namespace viridian::execute::cpu::simd {

// A LineTransform holds the matrices of F(m, r).
struct LineTransform {
    static constexpr int most = 12;  // products of a tile
    int m = 0, r = 0;
    // `source` is Bᵀ: row 0 is for the point 0, row 1 + j for the pair ±a_j (its odd columns change sign for
    // −a_j), then infinity. Components come as 0, +a_0, −a_0, +a_1, …, infinity.
    float source[2 + most / 2][most] = {};
    float power[most / 2][most] = {};  // a_j^k, in the result's unit
    double weights[most][most] = {};   // G
    [[nodiscard]] int components() const { return m + r - 1; }
};

// Returns the transform F(m, r); m + r is odd. Kernels in f32 use (m, r) = (4, 3), (6, 3), (4, 5), (6, 5),
// (4, 7), (6, 7).
[[nodiscard]] LineTransform line_transform(int m, int r);

// Transforms m + r − 1 pixels of 16 channels; component k goes to `to + k·step`.
void line_source(const LineTransform& transform, const float* const* pixels, float* to, std::int64_t step);
// Does what winograd_result does, for a tile of height m and width 1 or of height 1 and width m.
void line_result(const LineTransform& transform, const WinogradResult& result);
// Transforms the kernel `g[r]` to its components.
void line_weights(const LineTransform& transform, const float* g, double* components);

}  // namespace viridian::execute::cpu::simd
