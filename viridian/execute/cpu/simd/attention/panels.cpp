#include "viridian/execute/cpu/simd/attention/panels.hpp"

#include <algorithm>

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

constexpr std::int64_t tile = 8;  // rows and columns that are transposed in registers

#if HWY_TARGET != HWY_SCALAR
// to[j][i] = from[i][j] for 8 × 8 entries.
HWY_INLINE void transpose_tile(const float* from, std::int64_t from_row, float* to, std::int64_t to_row) {
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
        for (int i = 0; i < 4; ++i) x[i] = hn::LoadU(d, from + (4 * half + i) * from_row);
        const V a = hn::InterleaveLower(d, x[0], x[1]), b = hn::InterleaveLower(d, x[2], x[3]);
        const V c = hn::InterleaveUpper(d, x[0], x[1]), e = hn::InterleaveUpper(d, x[2], x[3]);
        V* out = quads + 4 * half;
        out[0] = low(a, b), out[1] = high(a, b), out[2] = low(c, e), out[3] = high(c, e);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
        hn::StoreU(hn::ConcatLowerLower(d, quads[4 + j], quads[j]), d, to + j * to_row);
        hn::StoreU(hn::ConcatUpperUpper(d, quads[4 + j], quads[j]), d, to + (j + 4) * to_row);
    }
}

#endif

// One group of weights from a matrix whose columns are contiguous: to[i][j] for j < `columns`.
void transposed_group(const MatrixView& m, std::int64_t rows, std::int64_t columns, std::int64_t room,
                      float* to) {
    std::int64_t whole_rows = 0, whole_columns = 0;
#if HWY_TARGET != HWY_SCALAR
    whole_rows = rows / tile * tile, whole_columns = columns / tile * tile;
    for (std::int64_t j = 0; j < whole_columns; j += tile)
        for (std::int64_t i = 0; i < whole_rows; i += tile)
            transpose_tile(m.first + j * m.column + i, m.column, to + i * room + j, room);
#endif
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
            to[i * room + j] = m.first[i + j * m.column];
}

void weights_packed(const MatrixView& m, std::int64_t rows, std::int64_t columns, std::int64_t width,
                    float* to) {
    for (std::int64_t first = 0; first < columns; first += width) {
        const std::int64_t count = std::min(width, columns - first);
        const std::int64_t room = (count + 15) / 16 * 16;
        const MatrixView part{m.first + first * m.column, m.row, m.column};
        if (m.column == 1)
            for (std::int64_t i = 0; i < rows; ++i) std::copy_n(part.first + i * m.row, count, to + i * room);
        else
            transposed_group(part, rows, count, room, to);
        if (count < room)
            for (std::int64_t i = 0; i < rows; ++i)
                std::fill(to + i * room + count, to + (i + 1) * room, 0.0F);
        to += rows * room;
    }
}

void pixels_packed(const MatrixView& m, std::int64_t rows, std::int64_t count, float factor, float* to) {
    const D d;
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    const V scale = hn::Set(d, factor);
    for (std::int64_t first = 0; first < count; first += 16, to += rows * 16) {
        const std::int64_t part = std::min<std::int64_t>(16, count - first);
        for (std::int64_t r = 0; r < rows; ++r) {
            const float* from = m.first + r * m.row + first;
            std::int64_t i = 0;
            for (; i + lanes <= part; i += lanes)
                hn::StoreU(hn::Mul(scale, hn::LoadU(d, from + i)), d, to + r * 16 + i);
            for (; i < part; ++i) to[r * 16 + i] = factor * from[i];
        }
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(weights_packed);
HWY_EXPORT(pixels_packed);

void pack_panels(const MatrixView& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                 float* to) {
    HWY_DYNAMIC_DISPATCH(weights_packed)(matrix, rows, columns, width, to);
}
void pack_pixels(const MatrixView& matrix, std::int64_t rows, std::int64_t count, float factor, float* to) {
    HWY_DYNAMIC_DISPATCH(pixels_packed)(matrix, rows, count, factor, to);
}

}  // namespace viridian::execute::cpu::simd
#endif
