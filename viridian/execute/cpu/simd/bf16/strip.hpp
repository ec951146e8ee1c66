#pragma once
// The micro-kernel of products in bf16. It works as simd/convolution/strip.hpp, two channels at a time, with
// sums in f32. Only processors with AVX512_BF16 run it.
#include <cstdint>

#include "viridian/execute/cpu/simd/convolution/strip.hpp"

namespace viridian::execute::cpu::simd {

// A strip of `pixels` results, `columns` blocks wide (1 or 2).
//   result[p][b·16 + i] = bias[…] + Σ over channels c: source[(c/16)·source_block + p·16 + c%16] ·
//                                                      weights[c/2][b·16 + i][c%2]
// then + add[…], then min(max(·, low), high). If the number of channels is odd, the weights of the one
// after the last are zeroes and its source is finite. Weights that follow these in memory are read ahead.
struct Bf16Strip {
    std::int64_t pixels = 0;
    int columns = 2;
    const std::uint16_t* source = nullptr;
    std::int64_t source_block = 0;
    std::int64_t channels = 0;
    const std::uint16_t* weights = nullptr;  // [pair of channels][columns·16][2]
    const float* bias = nullptr;             // [columns·16] or null
    const void* add = nullptr;               // or null; its blocks lie as the result's
    bool add_narrow = false;                 // in bf16, else f32
    std::int64_t add_pixel = block;
    void* result = nullptr;
    bool narrow = false;  // in bf16, else f32
    std::int64_t result_pixel = block, result_block = 0;
    std::int64_t last_width = block;  // valid lanes of the last column block: the rest is not stored
    bool clip = false;
    float low = 0, high = 0;
};

void run(const Bf16Strip& strip);

}  // namespace viridian::execute::cpu::simd
