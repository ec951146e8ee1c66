#pragma once
// This is the micro-kernel of convolutions and matrix products. It makes pixels × columns of a result and
// keeps every accumulator in a register while it goes through all taps and channels.
#include <cstdint>

namespace viridian::execute::cpu::simd {

inline constexpr std::int64_t block = 16;  // channels of one block, in sources, weights and results

// A Strip makes `pixels` results, `columns` blocks wide (1 or 2):
//   result[p][b·16 + i] = bias[…] + Σ over taps t, channels c:
//                           source[taps[t] + (c/16)·source_block + p·source_pixel + c%16] ·
//                           weights[t][c][b·16 + i]
// If source_pixel is 1, pixels lie side by side instead, and channel c of pixel p is source[taps[t] + c·16 +
// p]. If it is 0, the source is packed by tiles and there is one tap: channel c of pixel p of tile i is
// source[(i·channels + c)·tile_pixels() + p]. It then adds add[…], and takes min(max(·, low), high) if `clip`
// is set.
struct Strip {
    std::int64_t pixels = 0;
    int columns = 2;
    const float* source = nullptr;
    std::int64_t source_pixel = block;   // floats from one pixel to the next: 16, 32, 4, 8, 1 or 0
    std::int64_t source_block = 0;       // floats from one block of channels to the next
    const std::int64_t* taps = nullptr;  // where each tap reads, in floats
    std::int64_t tap_count = 1;
    std::int64_t channels = 0;
    const float* weights = nullptr;  // [tap][channel][columns·16]
    // `ahead` is null, or points at the floats that are needed next. The kernel then prefetches them
    // instead of a little of the weights themselves, and goes on by `ahead_step` floats for every channel of
    // every tap of every tile. In sources that are packed by tiles it does so with 512-bit vectors, and with
    // AVX2 in whole tiles, where it asks for one line at every fourth channel.
    const float* ahead = nullptr;
    std::int64_t ahead_step = 0;
    // If `minuend` is not null, the weights are `minuend` − `subtrahend`, which the first tile writes to
    // `difference`. The strip then has at least tile_pixels() pixels.
    const float *minuend = nullptr, *subtrahend = nullptr;
    float* difference = nullptr;
    const float* bias = nullptr;  // [columns·16] or null
    const float* add = nullptr;   // as `result`, or null
    float* result = nullptr;
    std::int64_t result_pixel = block, result_block = 0;
    std::int64_t last_width = block;  // valid lanes of the last column block: the rest is not stored
    bool clip = false;
    float low = 0, high = 0;
};

// Returns how many blocks of columns the instruction set in use does best at once.
[[nodiscard]] int best_columns();

void run(const Strip& strip);

// Returns the pixels of a tile. A strip reads its weights once for each of its tiles.
[[nodiscard]] int tile_pixels();

// Returns how many floats to prefetch for each channel, so that weights of the strip's own size are there
// when its last tile is made.
[[nodiscard]] inline std::int64_t ahead_step(std::int64_t pixels, std::int64_t columns) {
    const std::int64_t tiles = (pixels + tile_pixels() - 1) / tile_pixels();
    return (columns * block + tiles - 1) / tiles;
}

}  // namespace viridian::execute::cpu::simd
