// Lines of matrices in units of four bytes, and how groups of them are packed, for each instruction set.
#if defined(VIRIDIAN_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VIRIDIAN_LINES_INL
#undef VIRIDIAN_LINES_INL
#else
#define VIRIDIAN_LINES_INL
#endif

#include <hwy/highway.h>
#include <algorithm>
#include <cstring>

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

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
