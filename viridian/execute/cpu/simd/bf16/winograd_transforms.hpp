#pragma once
// Transforms tiles of Winograd convolutions between bf16 in memory and f32 in registers (AVX512_BF16).
// Components are rounded once, when they are stored. The transform of a square kernel is that of a line
// along both sides.
#include "viridian/execute/cpu/simd/convolution/winograd_line.hpp"

namespace viridian::execute::cpu::simd {

// A WinogradBf16 is the transform of kernels of one line or, if `square`, of square ones.
struct WinogradBf16 {
    LineTransform line;
    bool square = false;
    [[nodiscard]] int components() const {
        return square ? line.components() * line.components() : line.components();
    }
};

// Transforms one tile of one channel block. `pixels` points to its components() pixels, row by row, each of
// 16 channels in bf16; pixels outside the image point to zeroes. Component k goes to `to + k·step`
// (elements).
void winograd_bf16_source(const WinogradBf16& filter, const std::uint16_t* const* pixels, std::uint16_t* to,
                          std::int64_t step);

// A WinogradBf16Result says how one tile of one channel block is transformed back.
struct WinogradBf16Result {
    const float* from = nullptr;  // component k at from + k·step
    std::int64_t step = 0;
    void* to = nullptr;           // first pixel of the tile, in f32 or bf16
    const void* add = nullptr;    // residual of that pixel in the same type, or null
    bool narrow = false;          // `to` and `add` are in bf16; otherwise in f32
    const float* bias = nullptr;  // 16 numbers, or null
    std::int64_t row = 0;         // elements between rows of the result
    int height = 0, width = 0;    // of the tile inside the image
    bool clip = false;
    float low = 0, high = 0;
};
// Transforms a tile back, adds bias and residual, clips if `clip` is set, and stores the results.
void winograd_bf16_result(const WinogradBf16& filter, const WinogradBf16Result& result);

// Returns the transform F(m, r), which computes m results with r weights. Kernels use m = 2 and
// m = 4, with r = 3, 5 or 7 for lines and r = 3 for squares.
[[nodiscard]] WinogradBf16 winograd_bf16(int m, int r, bool square);
// Transforms the kernel `g`, given row by row, to its components.
void winograd_bf16_weights(const WinogradBf16& filter, const float* g, double* components);

}  // namespace viridian::execute::cpu::simd
