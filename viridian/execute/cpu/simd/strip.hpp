#pragma once
// The micro-kernel of convolutions and matrix products: pixels × columns of a result, every accumulator in a
// register while all taps and channels go by.
#include <cstdint>

namespace viridian::execute::cpu::simd {

inline constexpr std::int64_t block = 16;  // channels of one block, in sources, weights and results

// A strip of `pixels` results, `columns` blocks wide (1 or 2).
//   result[p][b·16 + i] = bias[…] + Σ over taps t, channels c:
//                           source[taps[t] + (c/16)·source_block + p·source_pixel + c%16] ·
//                           weights[t][c][b·16 + i]
// then + add[…], then min(max(·, low), high).
struct Strip {
    std::int64_t pixels = 0;
    int columns = 2;
    const float* source = nullptr;
    std::int64_t source_pixel = block;  // 16, 32, 4 or 8 floats
    std::int64_t source_block = 0;
    const std::int64_t* taps = nullptr;  // offsets in floats
    std::int64_t tap_count = 1;
    std::int64_t channels = 0;
    const float* weights = nullptr;  // [tap][channel][columns·16]
    const float* bias = nullptr;     // [columns·16] or null
    const float* add = nullptr;      // as `result`, or null
    float* result = nullptr;
    std::int64_t result_pixel = block, result_block = 0;
    std::int64_t last_width = block;  // valid lanes of the last column block: the rest is not stored
    bool clip = false;
    float low = 0, high = 0;
};

// Blocks of columns that the instruction set in use does best at once.
[[nodiscard]] int best_columns();

void run(const Strip& strip);

}  // namespace viridian::execute::cpu::simd
