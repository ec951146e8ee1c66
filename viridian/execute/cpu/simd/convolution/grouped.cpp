#include "viridian/execute/cpu/simd/convolution/grouped.hpp"

#include "viridian/execute/cpu/simd/convolution/strip.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/convolution/grouped.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
constexpr int most_pixels = lanes == 16 ? 8 : 4;  // sums and shuffled sources fit the registers

// For member i of every group: which vector of a source pixel has it, and in which lane each lane finds it.
struct Members {
    HWY_ALIGN std::int32_t lane[block][lanes];
    std::int64_t vector[block];

    Members(std::int64_t width, std::int64_t v) {
        for (std::int64_t i = 0; i < width; ++i) {
            vector[i] = width <= lanes ? v : v * lanes / width * (width / lanes) + i / lanes;
            for (std::int64_t l = 0; l < lanes; ++l)
                lane[i][l] = static_cast<std::int32_t>(width <= lanes ? l / width * width + i : i % lanes);
        }
    }
};

// Columns 0: as many as the row says, with its stride and dilation; else those, dense. Each source pixel is
// shuffled once for all of its columns, and not at all where every channel is its own group.
template <int Pixels, int Columns, int Stride, bool Shuffles>
HWY_NOINLINE void tile(const GroupedRow& s, const Members& members, std::int64_t v, std::int64_t first) {
    const D d;
    const V start = s.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, s.bias + v * lanes);
    V sum[Pixels];
#pragma GCC unroll 16
    for (int p = 0; p < Pixels; ++p) sum[p] = start;
    const float* weights = s.weights + v * lanes;
    const float* source = s.source + first * s.stride * block;
    for (std::int64_t r = 0; r < s.rows; ++r, source += s.source_row)
        for (std::int64_t i = 0; i < s.width; ++i) {
            const auto index = hn::SetTableIndices(d, members.lane[i]);
            const auto load = [&](const float* at) HWY_ATTR {
                if constexpr (Shuffles) return hn::TableLookupLanes(hn::LoadU(d, at), index);
                return hn::LoadU(d, at);
            };
            const float* from = source + members.vector[i] * lanes;
            if constexpr (Columns > 0) {
                constexpr int reach = (Pixels - 1) * Stride + Columns;
                V x[reach];
#pragma GCC unroll 32
                for (int j = 0; j < reach; ++j) x[j] = load(from + j * block);
#pragma GCC unroll 8
                for (int c = 0; c < Columns; ++c, weights += block) {
                    const V w = hn::LoadU(d, weights);
#pragma GCC unroll 16
                    for (int p = 0; p < Pixels; ++p) sum[p] = hn::MulAdd(x[p * Stride + c], w, sum[p]);
                }
            } else {
                for (std::int64_t c = 0; c < s.columns; ++c, weights += block) {
                    const V w = hn::LoadU(d, weights);
                    const float* at = from + c * s.dilation * block;
#pragma GCC unroll 16
                    for (int p = 0; p < Pixels; ++p)
                        sum[p] = hn::MulAdd(load(at + p * s.stride * block), w, sum[p]);
                }
            }
        }
    const V low = hn::Set(d, s.low), high = hn::Set(d, s.high);
#pragma GCC unroll 16
    for (int p = 0; p < Pixels; ++p) {
        const std::int64_t at = (first + p) * block + v * lanes;
        V r = sum[p];
        if (s.add != nullptr) r = hn::Add(r, hn::LoadU(d, s.add + at));
        if (s.clip) r = hn::Min(high, hn::Max(low, r));
        hn::StoreU(r, d, s.result + at);
    }
}

template <int Pixels, int Columns, int Stride, bool Shuffles>
void rest(const GroupedRow& s, const Members& members, std::int64_t v, std::int64_t first) {
    if constexpr (Pixels > 0) {
        if (s.pixels - first == Pixels) return tile<Pixels, Columns, Stride, Shuffles>(s, members, v, first);
        rest<Pixels - 1, Columns, Stride, Shuffles>(s, members, v, first);
    }
}

template <int Columns, int Stride, bool Shuffles>
void row_of(const GroupedRow& s) {
    for (std::int64_t v = 0; v < block / lanes; ++v) {
        const Members members(s.width, v);
        std::int64_t first = 0;
        for (; first + most_pixels <= s.pixels; first += most_pixels)
            tile<most_pixels, Columns, Stride, Shuffles>(s, members, v, first);
        rest<most_pixels - 1, Columns, Stride, Shuffles>(s, members, v, first);
    }
}

template <int Columns, int Stride>
void row_of(const GroupedRow& s) {
    return s.width == 1 ? row_of<Columns, Stride, false>(s) : row_of<Columns, Stride, true>(s);
}

void grouped_row(const GroupedRow& s) {
    const bool dense = s.dilation == 1;
    if (dense && s.columns == 3 && s.stride == 1) return row_of<3, 1>(s);
    if (dense && s.columns == 3 && s.stride == 2) return row_of<3, 2>(s);
    if (dense && s.columns == 5 && s.stride == 1) return row_of<5, 1>(s);
    if (dense && s.columns == 5 && s.stride == 2) return row_of<5, 2>(s);
    row_of<0, 0>(s);
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(grouped_row);

void run(const GroupedRow& row) { HWY_DYNAMIC_DISPATCH(grouped_row)(row); }

}  // namespace viridian::execute::cpu::simd
#endif
