#pragma once
// This is the micro-kernel of grouped convolutions in which a group has as many output channels as input
// channels, and that number divides a block of 16 channels.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A GroupedRow makes one row of `pixels` results of one block of 16 channels, from a source block that is
// padded already:
//   result[p][o] = bias[o] + Σ over rows r, group members i, columns c:
//     source[r·source_row + (p·stride + c·dilation)·16 + o / width · width + i] · weights[r][i][c][o]
// It then adds add[…], and takes min(max(·, low), high) if `clip` is set.
struct GroupedRow {
    std::int64_t pixels = 0;
    std::int64_t width = 1;  // channels of a group: 1, 2, 4, 8 or 16
    std::int64_t rows = 1, columns = 1, stride = 1, dilation = 1;
    const float* source = nullptr;
    std::int64_t source_row = 0;  // floats from the source row of one row of the kernel to that of the next
    const float* weights = nullptr;
    const float* bias = nullptr;  // or null
    const float* add = nullptr;   // as `result`, or null
    float* result = nullptr;
    bool clip = false;
    float low = 0, high = 0;
};

void run(const GroupedRow& row);

}  // namespace viridian::execute::cpu::simd
