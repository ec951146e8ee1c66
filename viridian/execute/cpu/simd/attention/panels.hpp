#pragma once
// Packs matrices that change from run to run in the order in which the micro-kernel (strip.hpp) reads them.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A MatrixView has its entry (i, j) at first[i · row + j · column]; `row` or `column` is 1.
struct MatrixView {
    const float* first = nullptr;
    std::int64_t row = 0, column = 1;
};

// Packs `rows` × `columns` entries as the weights of strips, [group of `width` columns][row][width]; `width`
// is 16 or 32. The last group has as many blocks of 16 columns as it needs, the rest of them zero.
void pack_panels(const MatrixView& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                 float* to);
// Packs rows of `count` contiguous entries, times `factor`, as the pixels of strips: [block of 16
// entries][row][16]. Lanes beyond the last entry are left as they are; no strip reads them.
void pack_pixels(const MatrixView& matrix, std::int64_t rows, std::int64_t count, float factor, float* to);

}  // namespace viridian::execute::cpu::simd
