#pragma once
// Rounds the scores of attention, or their gradients, to bf16 and packs them for the micro-kernel
// (bf16/strip.hpp). Only processors with AVX512_BF16 run this.
#include <cstdint>

#include "viridian/execute/cpu/simd/convolution/weights.hpp"

namespace viridian::execute::cpu::simd {

// A NarrowScores packs scores in f32, [block of 16 keys][row][16], of an even number of rows.
struct NarrowScores {
    const float* scores = nullptr;
    std::int64_t rows = 0;
    Groups keys;  // the groups of the weights
    // Nearly keeps the sum of each row, as round_rows() does (bf16/bf16.hpp).
    bool keeps_sums = false;
    std::uint16_t* weights = nullptr;  // to sum over rows: [group][pair of rows][block][16][2]
    std::uint16_t* pixels = nullptr;   // in the order of the scores, or null
};
void narrow_scores(const NarrowScores& given);

}  // namespace viridian::execute::cpu::simd
