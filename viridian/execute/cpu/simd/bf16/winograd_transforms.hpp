#pragma once
// Transforms tiles of Winograd convolutions between bf16 in memory and f32 in registers (AVX512_BF16).
// Components are rounded once, when they are stored. The transform of a square kernel is that of a line
// along both sides.
#include "viridian/execute/cpu/simd/convolution/winograd_line.hpp"

namespace viridian::execute::cpu::simd {

struct WinogradBf16 {
    LineTransform line;
    bool square = false;
    [[nodiscard]] int components() const {
        return square ? line.components() * line.components() : line.components();
    }
};

// Transforms one tile of one channel block: `pixels` row by row, 16 channels each; component k goes to
// `to + k·step`.
void winograd_bf16_source(const WinogradBf16& filter, const std::uint16_t* const* pixels, std::uint16_t* to,
                          std::int64_t step);

struct WinogradBf16Result {
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
void winograd_bf16_result(const WinogradBf16& filter, const WinogradBf16Result& result);

// Returns the transform F(m, r). Kernels use (m, r) = (2, 3) and (4, 3), squares too, (2, 5), (4, 5), (2, 7),
// (4, 7).
[[nodiscard]] WinogradBf16 winograd_bf16(int m, int r, bool square);
// Transforms the kernel `g`, row by row, to its components.
void winograd_bf16_weights(const WinogradBf16& filter, const float* g, double* components);

}  // namespace viridian::execute::cpu::simd
