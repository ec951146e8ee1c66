#pragma once
// Packs matrices that change from run to run in the order in which the micro-kernels (convolution/strip.hpp,
// bf16/strip.hpp) read them.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A View of a matrix has its entry (i, j) at first[i · row + j · column]; `row` or `column` is 1. The entries
// are f32, or bf16 as their bits.
template <class Entry>
struct View {
    const Entry* first = nullptr;
    std::int64_t row = 0, column = 1;
};
using MatrixView = View<float>;
using Bf16View = View<std::uint16_t>;

// Packs `rows` × `columns` entries as the weights of strips, [group of `width` columns][row][width]; `width`
// is 16 or 32. The last group has as many blocks of 16 columns as it needs, the rest of them zero. Entries in
// bf16 are widened to f32.
void pack_panels(const MatrixView& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                 float* to);
void pack_panels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                 float* to);
// Packs `rows` × `depth` entries as the packed pixels of strips (Strip::source_pixel is 0): [tile of `width`
// rows][entry of depth][width], where `width` is tile_pixels(). Rows that the last tile lacks are left as
// they are; no strip reads them. Up to seven floats behind the last tile are overwritten. If `matrix.row` is
// 1, `matrix.column` is 8 or more.
void pack_tiles(const MatrixView& matrix, std::int64_t rows, std::int64_t depth, std::int64_t width,
                float* to);
void pack_tiles(const Bf16View& matrix, std::int64_t rows, std::int64_t depth, std::int64_t width, float* to);
// These pack bf16 for micro-kernels that multiply pairs along K. The first packs weights as [group of `width`
// columns][pair of rows][width][2]; `rows` is even. The second packs pixels as [block of `width`
// columns][row][width], where `width` is 16 or 32; `columns` is even, and the rest of the last block is zero.
void pack_pair_panels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                      std::uint16_t* to);
void pack_pair_pixels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                      std::uint16_t* to);
// These do the same with matrices in f32, of which they take one part in bf16: every entry rounded, or the
// rest of it rounded. The rest of an infinity or NaN is 0.
enum class Part : std::uint8_t { rounded, rest };
void pack_part_panels(const MatrixView& matrix, Part part, std::int64_t rows, std::int64_t columns,
                      std::int64_t width, std::uint16_t* to);
void pack_part_pixels(const MatrixView& matrix, Part part, std::int64_t rows, std::int64_t columns,
                      std::int64_t width, std::uint16_t* to);
// Packs rows of `count` contiguous entries, times `factor`, as the pixels of strips: [block of 16
// entries][row][16], in f32. Lanes beyond the last entry are left as they are; no strip reads them.
void pack_pixels(const MatrixView& matrix, std::int64_t rows, std::int64_t count, float factor, float* to);
void pack_pixels(const Bf16View& matrix, std::int64_t rows, std::int64_t count, float factor, float* to);

}  // namespace viridian::execute::cpu::simd
