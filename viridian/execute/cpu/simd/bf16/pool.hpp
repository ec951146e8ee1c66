#pragma once
// This is the micro-kernel of pools over bf16 images with channels innermost. It folds first down the rows
// of a window, then across its columns. Only processors with AVX512_BF16 run it.
#include <cstddef>
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A PoolRow makes channels [first, last) of one row of `pixels` results, each over the part of its window
// that lies inside the source:
//   result[p][c] = the greatest, or the mean in f32, of source[r·source_row + (p·stride − pad + t·dilation)·
//                  channels + c] over rows r and columns t. The greatest of numbers and NaN is NaN.
struct PoolRow {
    bool maximum = true;
    std::int64_t channels = 0, first = 0, last = 0;
    std::int64_t width = 0, pixels = 0;  // of the source row, of the result row
    std::int64_t rows = 1;               // of the window, all inside the source
    std::int64_t columns = 1, stride = 1, dilation = 1, pad = 0;
    std::int64_t divisor = 0;  // of means; 0: as many cells as lie inside
    const std::uint16_t* source = nullptr;
    std::int64_t source_row = 0;  // elements from one row of the window to the next
    std::uint16_t* result = nullptr;
    std::byte* waiting = nullptr;  // scratch of waiting_bytes(), aligned to 64
};

void run(const PoolRow& row);

// Returns the bytes that a row of `width` pixels needs between folding down and across.
[[nodiscard]] std::int64_t waiting_bytes(bool maximum, std::int64_t width, std::int64_t channels);

}  // namespace viridian::execute::cpu::simd
