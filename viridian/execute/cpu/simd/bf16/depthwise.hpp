#pragma once
// The micro-kernel of depthwise convolutions of bf16 images with channels innermost and sums in f32. Only
// processors with AVX512_BF16 run it.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// `pixels` results of one row, at most depthwise_tile_pixels, from pixel `first` on; of all channels those of
// blocks [first_block, last_block), 32 each.
//   result[p][c] = bias[c] + Σ over rows r, columns t: weights[…][r][t][c] · source[r·source_row +
//                  ((first + p)·stride − pad + t·dilation)·channels + c], zero outside the row
// then + add[p][c], then min(max(·, low), high).
struct DepthwiseTile {
    std::int64_t channels = 0;
    std::int64_t first_block = 0, last_block = 0;
    std::int64_t width = 0;  // of the source
    std::int64_t first = 0, pixels = 0;
    std::int64_t rows = 1;  // of the kernel, all inside the source
    std::int64_t columns = 1, stride = 1, dilation = 1, pad = 0;
    const std::uint16_t* source = nullptr;
    std::int64_t source_row = 0;
    bool ahead = false;              // the row behind the kernel's is read ahead
    const float* weights = nullptr;  // [32 channels][row][column][even channels, odd channels]
    std::int64_t weights_block = 0;
    const float* bias = nullptr;  // [32 channels][even channels, odd channels] or null
    const void* add = nullptr;    // or null
    bool add_narrow = false;      // in bf16, else f32
    void* result = nullptr;
    bool narrow = false;  // in bf16, else f32
    bool clip = false;
    float low = 0, high = 0;
};

inline constexpr std::int64_t depthwise_tile_pixels = 8;

void run(const DepthwiseTile& tile);

// Where channel c is among its 32 in weights and bias.
[[nodiscard]] constexpr std::int64_t depthwise_lane(std::int64_t c) { return c % 32 / 2 + c % 2 * 16; }

}  // namespace viridian::execute::cpu::simd
