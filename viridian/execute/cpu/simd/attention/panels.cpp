#include "viridian/execute/cpu/simd/attention/panels.hpp"

#include <algorithm>
#include <cstring>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/attention/panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;
using Words = hn::RebindToUnsigned<D>;
using Halves = hn::Rebind<std::uint16_t, D>;

constexpr std::int64_t tile = 8;  // rows and columns that are transposed in registers, by vectors of eight
constexpr bool transposes = hn::MaxLanes(D()) == tile;

// Each of these four types reads the lines (rows or columns) of a matrix in units of four bytes. `stride`
// counts entries from one line to the next. Here a unit is one f32.
struct Floats {
    const float* first;
    std::int64_t stride;
    [[nodiscard]] Floats from(std::int64_t line, std::int64_t at) const {
        return {first + line * stride + at, stride};
    }
    [[nodiscard]] float unit(std::int64_t line, std::int64_t at) const { return first[line * stride + at]; }
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const { return hn::LoadU(D(), first + line * stride); }
};

float unit_of(std::uint32_t bits) {
    float unit;
    std::memcpy(&unit, &bits, sizeof unit);
    return unit;
}

HWY_INLINE hn::Vec<Words> words(const std::uint16_t* from) {
    return hn::PromoteTo(Words(), hn::LoadU(Halves(), from));
}

// A unit is one bf16, widened to f32.
struct Widened {
    const std::uint16_t* first;
    std::int64_t stride;
    [[nodiscard]] Widened from(std::int64_t line, std::int64_t at) const {
        return {first + line * stride + at, stride};
    }
    [[nodiscard]] float unit(std::int64_t line, std::int64_t at) const {
        return unit_of(std::uint32_t{first[line * stride + at]} << 16U);
    }
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const {
        return hn::BitCast(D(), hn::ShiftLeft<16>(words(first + line * stride)));
    }
};

// A unit is two bf16 that are neighbours in a line; it is moved as it is.
struct Pairs {
    const std::uint16_t* first;
    std::int64_t stride;
    [[nodiscard]] Pairs from(std::int64_t line, std::int64_t at) const {
        return {first + line * stride + 2 * at, stride};
    }
    [[nodiscard]] float unit(std::int64_t line, std::int64_t at) const {
        float both;
        std::memcpy(&both, first + line * stride + 2 * at, sizeof both);
        return both;
    }
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const {
        return hn::LoadU(D(), reinterpret_cast<const float*>(first + line * stride));
    }
};

// A unit is two bf16 at the same place of two neighbouring lines of the matrix.
struct Interleaved {
    const std::uint16_t* first;
    std::int64_t stride;
    [[nodiscard]] Interleaved from(std::int64_t line, std::int64_t at) const {
        return {first + 2 * line * stride + at, stride};
    }
    [[nodiscard]] float unit(std::int64_t line, std::int64_t at) const {
        const std::uint16_t* low = first + 2 * line * stride + at;
        return unit_of(std::uint32_t{low[0]} | std::uint32_t{low[stride]} << 16U);
    }
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const {
        const std::uint16_t* low = first + 2 * line * stride;
        return hn::BitCast(D(), hn::Or(words(low), hn::ShiftLeft<16>(words(low + stride))));
    }
};

#if HWY_TARGET != HWY_SCALAR
// to[j][i] = from[i][j] for 8 × 8 units.
template <class Lines>
HWY_INLINE void transpose_tile(const Lines& from, float* to, std::int64_t to_row) {
    const D d;
    const hn::Repartition<double, D> pairs;
    const auto low = [&](V a, V b) HWY_ATTR {
        return hn::BitCast(d, hn::InterleaveLower(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
    };
    const auto high = [&](V a, V b) HWY_ATTR {
        return hn::BitCast(d, hn::InterleaveUpper(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
    };
    V quads[tile];  // [4·half + j]: columns j and j + 4 of the four rows of a half
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        V x[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) x[i] = from.load(4 * half + i);
        const V a = hn::InterleaveLower(d, x[0], x[1]), b = hn::InterleaveLower(d, x[2], x[3]);
        const V c = hn::InterleaveUpper(d, x[0], x[1]), e = hn::InterleaveUpper(d, x[2], x[3]);
        V* out = quads + 4 * half;
        out[0] = low(a, b), out[1] = high(a, b), out[2] = low(c, e), out[3] = high(c, e);
    }
    // In this order, because a row of fewer than eight units is stored with a part of the next one.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
        hn::StoreU(hn::ConcatLowerLower(d, quads[4 + j], quads[j]), d, to + j * to_row);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
        hn::StoreU(hn::ConcatUpperUpper(d, quads[4 + j], quads[j]), d, to + (j + 4) * to_row);
}

#endif

// One group whose rows are lines: to[i][j] = unit j of line i, for j < `columns`.
template <class Lines>
void copied_group(const Lines& lines, std::int64_t rows, std::int64_t columns, std::int64_t room, float* to) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < rows; ++i, to += room) {
        std::int64_t j = 0;
        for (; j + lanes <= columns; j += lanes) hn::StoreU(lines.from(i, j).load(0), d, to + j);
        for (; j < columns; ++j) to[j] = lines.unit(i, j);
    }
}

// One group whose columns are lines: to[i][j] = unit i of line j, for j < `columns`.
template <class Lines>
void transposed_group(const Lines& lines, std::int64_t rows, std::int64_t columns, std::int64_t room,
                      float* to) {
    std::int64_t whole_rows = 0, whole_columns = 0;
#if HWY_TARGET != HWY_SCALAR
    if (transposes) whole_rows = rows / tile * tile, whole_columns = columns / tile * tile;
    for (std::int64_t j = 0; j < whole_columns; j += tile)
        for (std::int64_t i = 0; i < whole_rows; i += tile)
            transpose_tile(lines.from(j, i), to + i * room + j, room);
#endif
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
            to[i * room + j] = lines.unit(j, i);
}

// Packs units as [group of `width` columns][row][width]. The last group has as many blocks of `lanes` columns
// as it needs, the rest of them zero. The lines are the columns of the matrix if `transposed`, or its rows.
template <class Lines>
void groups_packed(const Lines& lines, bool transposed, std::int64_t rows, std::int64_t columns,
                   std::int64_t width, std::int64_t lanes, float* to) {
    for (std::int64_t first = 0; first < columns; first += width) {
        const std::int64_t count = std::min(width, columns - first);
        const std::int64_t room = (count + lanes - 1) / lanes * lanes;
        if (transposed)
            transposed_group(lines.from(first, 0), rows, count, room, to);
        else
            copied_group(lines.from(0, first), rows, count, room, to);
        if (count < room)
            for (std::int64_t i = 0; i < rows; ++i)
                std::fill(to + i * room + count, to + (i + 1) * room, 0.0F);
        to += rows * room;
    }
}

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
void pair_pixels_packed(const Bf16View& m, std::int64_t rows, std::int64_t columns, float* to) {
    if (m.column != 1)
        groups_packed(Interleaved{m.first, m.column}, true, rows, columns / 2, 8, 8, to);
    else
        groups_packed(Pairs{m.first, m.row}, false, rows, columns / 2, 8, 8, to);
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
void pack_pair_pixels(const Bf16View& matrix, std::int64_t rows, std::int64_t columns, std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(pair_pixels_packed)(matrix, rows, columns, reinterpret_cast<float*>(to));
}
void pack_pixels(const MatrixView& matrix, std::int64_t rows, std::int64_t count, float factor, float* to) {
    HWY_DYNAMIC_DISPATCH(pixels_packed)(matrix, rows, count, factor, to);
}
void pack_pixels(const Bf16View& matrix, std::int64_t rows, std::int64_t count, float factor, float* to) {
    HWY_DYNAMIC_DISPATCH(widened_pixels_packed)(matrix, rows, count, factor, to);
}

}  // namespace viridian::execute::cpu::simd
#endif
