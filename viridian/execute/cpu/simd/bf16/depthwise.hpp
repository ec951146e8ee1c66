#pragma once
// This is the micro-kernel of depthwise convolutions of bf16 images with channels innermost and sums in
// f32. Only processors with AVX512_BF16 run it.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A DepthwiseTile makes `pixels` results of one row, at most depthwise_tile_pixels, from pixel `first` on.
// It makes the channels of the blocks [first_block, last_block), of 32 channels each:
//   result[p][c] = bias[c] + Σ over rows r and columns t of the kernel: weights[c / 32][r][t][c % 32] ·
//                  source[r·source_row + ((first + p)·stride − pad + t·dilation)·channels + c]
// The weights and the bias of channel c lie at position depthwise_lane(c) of its block. Pixels left and right
// of the source row count as zero. The kernel then adds add[p][c], and takes min(max(·, low), high) if `clip`
// is set.
struct DepthwiseTile {
    std::int64_t channels = 0;  // of the image
    std::int64_t first_block = 0, last_block = 0;
    std::int64_t width = 0;  // pixels of a source row
    std::int64_t first = 0, pixels = 0;
    std::int64_t rows = 1;                   // rows of the kernel that lie inside the source
    std::int64_t columns = 1, dilation = 1;  // of the kernel
    std::int64_t stride = 1, pad = 0;        // of the windows; pixels left of the source row
    const std::uint16_t* source = nullptr;   // pixel 0 of the source row that the first of `rows` reads
    std::int64_t source_row = 0;             // elements from one of these source rows to the next
    bool ahead = false;  // prefetch the source row after the last one, because the next results read it
    // The weights of the kernel rows from the first of `rows` on, as [block of 32 channels][row][column][16
    // even, 16 odd channels].
    const float* weights = nullptr;
    std::int64_t weights_block = 0;  // floats from the weights of one block of channels to the next
    const float* bias = nullptr;     // [block of 32 channels][16 even, 16 odd channels], or null
    const void* add = nullptr;       // a residual with the channels of the result, or null
    bool add_narrow = false;         // `add` is in bf16; otherwise in f32
    void* result = nullptr;
    bool narrow = false;  // `result` is in bf16; otherwise in f32
    bool clip = false;
    float low = 0, high = 0;
};

inline constexpr std::int64_t depthwise_tile_pixels = 8;

void run(const DepthwiseTile& tile);

// Returns the position of channel `c` among the 32 of its block, in weights and bias.
[[nodiscard]] constexpr std::int64_t depthwise_lane(std::int64_t c) { return c % 32 / 2 + c % 2 * 16; }

}  // namespace viridian::execute::cpu::simd
