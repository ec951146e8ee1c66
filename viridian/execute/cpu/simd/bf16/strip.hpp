#pragma once
// This is the micro-kernel of products in bf16. It works as simd/convolution/strip.hpp, two channels at a
// time, with sums in f32. Only processors with AVX512_BF16 run it.
#include <cstdint>

#include "viridian/execute/cpu/simd/convolution/strip.hpp"

namespace viridian::execute::cpu::simd {

// A Bf16Strip makes `pixels` results, `columns` blocks of 16 wide (1 or 2):
//   result[p][b·16 + i] = bias[…] + Σ over channels c: source[(c/16)·source_block + p·16 + c%16] ·
//                                                      weights[c/2][b·16 + i][c%2]
// It then adds add[…], and takes min(max(·, low), high) if `clip` is set. If the number of channels is odd,
// the weights of the one after the last are zeroes and its source is finite. Weights that follow these in
// memory are read ahead.
struct Bf16Strip {
    std::int64_t pixels = 0;
    int columns = 2;
    const std::uint16_t* source = nullptr;
    std::int64_t source_block = 0;  // elements from one block of 16 channels to the next
    std::int64_t channels = 0;
    const std::uint16_t* weights = nullptr;  // [pair of channels][columns·16][2]
    const float* bias = nullptr;             // [columns·16] or null
    const void* add = nullptr;               // a residual or null; its blocks lie as those of the result
    bool add_narrow = false;                 // `add` is in bf16; otherwise in f32
    std::int64_t add_pixel = block;          // elements from one pixel to the next
    void* result = nullptr;
    bool narrow = false;  // `result` is in bf16; otherwise in f32
    std::int64_t result_pixel = block, result_block = 0;
    std::int64_t last_width = block;  // valid lanes of the last column block: the rest is not stored
    bool clip = false;
    float low = 0, high = 0;
};

void run(const Bf16Strip& strip);

}  // namespace viridian::execute::cpu::simd
