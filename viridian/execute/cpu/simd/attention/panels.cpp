#include "viridian/execute/cpu/simd/attention/panels.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/attention/panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "viridian/execute/cpu/simd/attention/lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

// Lines of which those behind `last` are that one again.
template <class Lines>
struct Repeated {
    Lines lines;
    std::int64_t last;
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const { return lines.load(std::min(line, last)); }
};

// to[i][j] = unit i of line j, for j < `count` lines. Stores whole vectors: rows are made in ascending order,
// and the last blocks of lines before the first, so that what is stored behind a row is overwritten.
template <class Lines>
void transposed_units(const Lines& lines, std::int64_t count, std::int64_t depth, std::int64_t width,
                      float* to) {
    std::int64_t whole = 0;
#if HWY_TARGET != HWY_SCALAR
    if (transposes) whole = depth / tile * tile;
    for (std::int64_t i = 0; i < whole; i += tile)
        for (std::int64_t j = (count - 1) / tile * tile; j >= 0; j -= tile)
            transpose_tile(Repeated<Lines>{lines.from(j, i), count - 1 - j}, to + i * width + j, width);
#endif
    for (std::int64_t i = whole; i < depth; ++i)
        for (std::int64_t j = 0; j < count; ++j) to[i * width + j] = lines.unit(j, i);
}

// to[i][j] = unit j of line i, for j < `count`. A vector is read across the end of a line, but not behind the
// last line, where `left` units are.
template <class Lines>
void copied_units(const Lines& lines, std::int64_t count, std::int64_t left, std::int64_t depth,
                  std::int64_t width, float* to) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < depth; ++i, to += width)
        for (std::int64_t j = 0; j < count; j += lanes)
            if (i + 1 < depth || j + lanes <= left)
                hn::StoreU(lines.from(i, j).load(0), d, to + j);
            else
                for (std::int64_t k = j; k < count; ++k) to[k] = lines.unit(i, k);
}

// Packs `rows` × `depth` units as [tile of `width` rows][unit of depth][width].
template <class Lines>
void tiles_packed(const Lines& lines, bool rows_are_lines, std::int64_t rows, std::int64_t depth,
                  std::int64_t width, float* to) {
    for (std::int64_t first = 0; first < rows; first += width, to += width * depth) {
        const std::int64_t count = std::min(width, rows - first);
        if (rows_are_lines)
            transposed_units(lines.from(first, 0), count, depth, width, to);
        else
            copied_units(lines.from(0, first), count, rows - first, depth, width, to);
    }
}

void float_tiles_packed(const MatrixView& m, std::int64_t rows, std::int64_t depth, std::int64_t width,
                        float* to) {
    const bool rows_are_lines = m.column == 1;
    tiles_packed(Floats{m.first, rows_are_lines ? m.row : m.column}, rows_are_lines, rows, depth, width, to);
}
void widened_tiles_packed(const Bf16View& m, std::int64_t rows, std::int64_t depth, std::int64_t width,
                          float* to) {
    const bool rows_are_lines = m.column == 1;
    tiles_packed(Widened{m.first, rows_are_lines ? m.row : m.column}, rows_are_lines, rows, depth, width, to);
}

void weights_packed(const MatrixView& m, std::int64_t rows, std::int64_t columns, std::int64_t width,
                    float* to) {
    const bool transposed = m.column != 1;
    groups_packed(Floats{m.first, transposed ? m.column : m.row}, transposed, rows, columns, width, 16, to);
}

void widened_packed(const Bf16View& m, std::int64_t rows, std::int64_t columns, std::int64_t width,
                    float* to) {
    const bool transposed = m.column != 1;
    groups_packed(Widened{m.first, transposed ? m.column : m.row}, transposed, rows, columns, width, 16, to);
}

// A unit is a pair of rows.
void pair_weights_packed(const Bf16View& m, std::int64_t rows, std::int64_t columns, std::int64_t width,
                         float* to) {
    if (m.column != 1)
        groups_packed(Pairs{m.first, m.column}, true, rows / 2, columns, width, 16, to);
    else
        groups_packed(Interleaved{m.first, m.row}, false, rows / 2, columns, width, 16, to);
}

// A unit is a pair of columns.
void pair_pixels_packed(const Bf16View& m, std::int64_t rows, std::int64_t columns, std::int64_t width,
                        float* to) {
    if (m.column != 1)
        groups_packed(Interleaved{m.first, m.column}, true, rows, columns / 2, width / 2, width / 2, to);
    else
        groups_packed(Pairs{m.first, m.row}, false, rows, columns / 2, width / 2, width / 2, to);
}

template <class Lines>
HWY_INLINE void scaled_rows(const Lines& lines, std::int64_t rows, std::int64_t count, float factor,
                            float* to) {
    const D d;
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    const V scale = hn::Set(d, factor);
    for (std::int64_t first = 0; first < count; first += 16, to += rows * 16) {
        const std::int64_t part = std::min<std::int64_t>(16, count - first);
        for (std::int64_t r = 0; r < rows; ++r) {
            const Lines from = lines.from(r, first);
            std::int64_t i = 0;
            for (; i + lanes <= part; i += lanes)
                hn::StoreU(hn::Mul(scale, from.from(0, i).load(0)), d, to + r * 16 + i);
            for (; i < part; ++i) to[r * 16 + i] = factor * from.unit(0, i);
        }
    }
}

void pixels_packed(const MatrixView& m, std::int64_t rows, std::int64_t count, float factor, float* to) {
    scaled_rows(Floats{m.first, m.row}, rows, count, factor, to);
}
void widened_pixels_packed(const Bf16View& m, std::int64_t rows, std::int64_t count, float factor,
                           float* to) {
    scaled_rows(Widened{m.first, m.row}, rows, count, factor, to);
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(weights_packed);
HWY_EXPORT(widened_packed);
HWY_EXPORT(float_tiles_packed);
HWY_EXPORT(widened_tiles_packed);
HWY_EXPORT(pair_weights_packed);
HWY_EXPORT(pair_pixels_packed);
HWY_EXPORT(pixels_packed);
HWY_EXPORT(widened_pixels_packed);

void pack_panels(const MatrixView& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                 float* to) {
    HWY_DYNAMIC_DISPATCH(weights_packed)(matrix, rows, columns, width, to);
}
void pack_panels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                 float* to) {
    HWY_DYNAMIC_DISPATCH(widened_packed)(matrix, rows, columns, width, to);
}
void pack_tiles(const MatrixView& matrix, std::int64_t rows, std::int64_t depth, std::int64_t width,
                float* to) {
    HWY_DYNAMIC_DISPATCH(float_tiles_packed)(matrix, rows, depth, width, to);
}
void pack_tiles(const Bf16View& matrix, std::int64_t rows, std::int64_t depth, std::int64_t width,
                float* to) {
    HWY_DYNAMIC_DISPATCH(widened_tiles_packed)(matrix, rows, depth, width, to);
}
void pack_pair_panels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                      std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(pair_weights_packed)(matrix, rows, columns, width, reinterpret_cast<float*>(to));
}
void pack_pair_pixels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                      std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(pair_pixels_packed)(matrix, rows, columns, width, reinterpret_cast<float*>(to));
}
void pack_pixels(const MatrixView& matrix, std::int64_t rows, std::int64_t count, float factor, float* to) {
    HWY_DYNAMIC_DISPATCH(pixels_packed)(matrix, rows, count, factor, to);
}
void pack_pixels(const Bf16View& matrix, std::int64_t rows, std::int64_t count, float factor, float* to) {
    HWY_DYNAMIC_DISPATCH(widened_pixels_packed)(matrix, rows, count, factor, to);
}

}  // namespace viridian::execute::cpu::simd
#endif
