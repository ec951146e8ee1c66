#pragma once
// Minimal filtering's transforms between bf16 in memory and f32 in registers (AVX512_BF16): components are
// rounded once, when they are stored. Squares are a line's transform along both sides.
#include "viridian/execute/cpu/simd/winograd_line.hpp"

namespace viridian::execute::cpu::simd {

struct BrainFilter {
    LineTransform line;
    bool square = false;
    [[nodiscard]] int components() const {
        return square ? line.components() * line.components() : line.components();
    }
};

// One tile and channel block: pixels row by row, 16 channels each; component k goes to `to + k·step`.
void brain_source(const BrainFilter& filter, const std::uint16_t* const* pixels, std::uint16_t* to,
                  std::int64_t step);

struct BrainResult {
    const float* from = nullptr;  // component k at from + k·step
    std::int64_t step = 0;
    void* to = nullptr;         // first pixel of the tile, in f32 or bf16
    const void* add = nullptr;  // likewise, or null
    bool narrow = false;        // bf16
    const float* bias = nullptr;
    std::int64_t row = 0;       // elements between rows of the result
    int height = 0, width = 0;  // of the tile inside the image
    bool clip = false;
    float low = 0, high = 0;
};
void brain_result(const BrainFilter& filter, const BrainResult& result);

// Offered are (m, r) = (2, 3) and (4, 3), squares too, (2, 5), (4, 5), (2, 7), (4, 7).
[[nodiscard]] BrainFilter brain_filter(int m, int r, bool square);
// g (row by row) to its components.
void brain_weights(const BrainFilter& filter, const float* g, double* components);

}  // namespace viridian::execute::cpu::simd
