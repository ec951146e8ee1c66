#pragma once
// This is the micro-kernel of pools over f32 images whose channels, or a block of them, are innermost. It
// reads the cells of a window directly from the image, without a copy.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A WindowRow makes `channels` channels of one row of `pixels` results, each over the part of its window that
// lies inside the source:
//   result[p·pixel + c] = the greatest, or the mean, of
//                         source[r·source_row + (p·stride − pad + t·dilation)·pixel + c]
// over rows r and columns t. If a window holds a NaN, its greatest is NaN.
struct WindowRow {
    bool maximum = true;
    std::int64_t channels = 0;
    std::int64_t pixel = 0;              // floats from one to the next, in source and result
    std::int64_t width = 0, pixels = 0;  // of the source row, of the result row
    std::int64_t rows = 1;               // of the window, all inside the source
    std::int64_t columns = 1, stride = 1, dilation = 1, pad = 0;
    std::int64_t divisor = 0;  // of means; 0: as many cells as lie inside
    const float* source = nullptr;
    std::int64_t source_row = 0;  // floats from one row of the window to the next
    float* result = nullptr;
};

void run(const WindowRow& row);

}  // namespace viridian::execute::cpu::simd
