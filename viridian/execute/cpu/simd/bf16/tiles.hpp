#pragma once
// This is the micro-kernel of products in bf16 on the matrix unit (AMX). It sums two by two tiles in f32 over
// all channels, in several passes if their weights do not stay in the first cache. The finished sums get bias
// and residual, and are clipped, as they are stored. A run is a stretch of consecutive elements of the source
// that meets consecutive weights: the channels of one tap of a convolution's kernel, or of adjacent taps.
#include <cstdint>

namespace viridian::execute::cpu::simd {

inline constexpr std::int64_t tile_rows = 16, tile_channels = 32;  // of a tile of the source, at most

// Returns whether there is a matrix unit that this process may use. The first call asks the system for its
// registers.
[[nodiscard]] bool matrix_unit();

// A TileStrip makes `rows` rows of a result, `columns` blocks of 16 wide:
//   result[r][b·16 + i] = bias[…] + Σ over runs, blocks k of a run, channels c of a block:
//                           source[r·source_row + runs[…] + k·source_block + c] · weights[…][b·16 + i]
// It then adds add[…], and takes min(max(·, low), high) if `clip` is set. The first `width` of every `pitch`
// rows are results. The others, which straddle two lines of an image, are left out and take no memory in the
// result.
struct TileStrip {
    std::int64_t rows = 0;
    std::int64_t pitch = 1, width = 1;
    std::int64_t columns = 2;
    // `rows_at_once` rows are made for all columns before the next rows. If it is 0, all rows are made for
    // two blocks of columns before the next columns.
    std::int64_t rows_at_once = 0;
    const std::uint16_t* source = nullptr;
    std::int64_t source_row = 0;                // elements from one row to the next
    std::int64_t source_block = tile_channels;  // elements from one block of a run to the next
    const std::int64_t* runs = nullptr;         // where each run begins in a row, in elements
    std::int64_t run_count = 1;
    std::int64_t run_blocks = 1;            // blocks of channels of a run
    std::int64_t channels = tile_channels;  // of a block: even, at most 32
    // The weights lie by two blocks of columns: [run][block][1 or 2][channels/2][16][2], or, if these are
    // side by side, [run][block][channels/2][1 or 2][16][2].
    const std::uint16_t* weights = nullptr;
    bool side_by_side = false;
    const float* bias = nullptr;   // [columns·16] or null
    const void* add = nullptr;     // the residual of row 0, or null
    bool add_narrow = false;       // `add` is in bf16; otherwise in f32
    std::int64_t add_row = 0;      // elements from one row to the next
    void* result = nullptr;        // of row 0
    bool narrow = false;           // `result` is in bf16; otherwise in f32
    std::int64_t result_row = 0;   // elements between rows
    std::int64_t last_width = 16;  // valid lanes of the last column block
    bool clip = false;
    float low = 0, high = 0;
};

void run(const TileStrip& strip);

// Releases the calling thread's tile registers. Every thread that ran strips calls it afterwards.
void release_tiles();

}  // namespace viridian::execute::cpu::simd
