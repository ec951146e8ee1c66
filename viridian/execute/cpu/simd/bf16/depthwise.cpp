#include "viridian/execute/cpu/simd/bf16/depthwise.hpp"

#include "viridian/execute/cpu/simd/bf16/lanes.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

constexpr std::int64_t lanes = bf16_lanes;

// Words of a table of two vectors: first even, then odd channels in turn.
HWY_INLINE __m512i turns(int from) {
    const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i half = _mm512_maskz_srli_epi32(every_lane, count, 1);
    return _mm512_add_epi32(_mm512_mask_add_epi32(half, 0xaaaa, half, _mm512_set1_epi32(16)),
                            _mm512_set1_epi32(from));
}

HWY_INLINE __m512i every_second(int from) {
    const __m512i count = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_add_epi32(count, _mm512_set1_epi32(from));
}

struct Lanes {
    __m512 even, odd;
};

HWY_INLINE Lanes load(const void* from, bool narrow, std::int64_t at, __mmask32 there) {
    if (narrow) {
        const __m512i pairs = _mm512_maskz_loadu_epi16(there, static_cast<const std::uint16_t*>(from) + at);
        return {even_lanes(pairs), odd_lanes(pairs)};
    }
    const float* floats = static_cast<const float*>(from) + at;
    const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there), floats);
    const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there >> 16U), floats + 16);
    return {_mm512_permutex2var_ps(low, every_second(0), high),
            _mm512_permutex2var_ps(low, every_second(1), high)};
}

HWY_INLINE void store(const Lanes& x, float* to, __mmask32 there) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(there), _mm512_permutex2var_ps(x.even, turns(0), x.odd));
    _mm512_mask_storeu_ps(to + 16, static_cast<__mmask16>(there >> 16U),
                          _mm512_permutex2var_ps(x.even, turns(8), x.odd));
}

template <int Pixels>
HWY_INLINE void finish(const DepthwiseTile& s, std::int64_t c, __mmask32 there, Lanes (&sum)[Pixels]) {
    if (s.add != nullptr) {
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) {
            const Lanes add = load(s.add, s.add_narrow, p * s.channels + c, there);
            sum[p] = {_mm512_add_ps(sum[p].even, add.even), _mm512_add_ps(sum[p].odd, add.odd)};
        }
    }
    if (s.clip) {
        const __m512 low = _mm512_set1_ps(s.low), high = _mm512_set1_ps(s.high);
        // NaN stays: of two the second is the answer.
        const auto clipped = [&](__m512 x) {
            return _mm512_maskz_min_ps(every_lane, high, _mm512_maskz_max_ps(every_lane, low, x));
        };
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) sum[p] = {clipped(sum[p].even), clipped(sum[p].odd)};
    }
    if (s.narrow) {
        std::uint16_t* to = static_cast<std::uint16_t*>(s.result) + c;
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p, to += s.channels)
            _mm512_mask_storeu_epi16(to, there, bf16_pairs(sum[p].even, sum[p].odd));
    } else {
        float* to = static_cast<float*>(s.result) + c;
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p, to += s.channels) store(sum[p], to, there);
    }
}

// 32 channels from c on. Columns 0: as many as the tile says, with its stride and dilation; else those,
// dense: weights of a row stay in registers while its pixels come by, each read once. Inner: every pixel
// and channel is there.
template <int Pixels, int Columns, int Stride, bool Inner>
HWY_NOINLINE void tile(const DepthwiseTile& s, std::int64_t c) {
    const __mmask32 there = first_lanes(s.channels - c);
    const std::int64_t block = c / lanes;
    Lanes sum[Pixels];
    Lanes start = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    if (s.bias != nullptr)
        start = {_mm512_loadu_ps(s.bias + block * 32), _mm512_loadu_ps(s.bias + block * 32 + 16)};
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p) sum[p] = start;
    const float* weights = s.weights + block * s.weights_block;
    const std::int64_t begin = s.first * s.stride - s.pad;
    const std::uint16_t* from = s.source + begin * s.channels + c;
    const auto pixel = [&](std::int64_t at) -> Lanes {
        const std::uint16_t* place = from + at * s.channels;
        __m512i pairs;
        if constexpr (Inner) {
            pairs = _mm512_loadu_si512(place);
        } else {
            const bool inside = begin + at >= 0 && begin + at < s.width;
            pairs = _mm512_maskz_loadu_epi16(inside ? there : 0, place);
        }
        return {even_lanes(pairs), odd_lanes(pairs)};
    };
    const auto add = [](Lanes& to, const Lanes& x, const Lanes& w) {
        to = {_mm512_fmadd_ps(x.even, w.even, to.even), _mm512_fmadd_ps(x.odd, w.odd, to.odd)};
    };
    if (Columns > 0 && s.ahead) {
        const std::uint16_t* next = from + s.rows * s.source_row;
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) _mm_prefetch(next + p * s.channels, _MM_HINT_T0);
    }
    for (std::int64_t r = 0; r < s.rows; ++r, from += s.source_row) {
        if constexpr (Columns > 0) {
            Lanes w[Columns];
#pragma GCC unroll 5
            for (int t = 0; t < Columns; ++t, weights += lanes)
                w[t] = {_mm512_loadu_ps(weights), _mm512_loadu_ps(weights + 16)};
#pragma GCC unroll 32
            for (int j = 0; j < (Pixels - 1) * Stride + Columns; ++j) {
                const Lanes x = pixel(j);
#pragma GCC unroll 8
                for (int p = 0; p < Pixels; ++p)
                    if (const int t = j - p * Stride; t >= 0 && t < Columns) add(sum[p], x, w[t]);
            }
        } else {
            for (std::int64_t t = 0; t < s.columns; ++t, weights += lanes) {
                const Lanes w = {_mm512_loadu_ps(weights), _mm512_loadu_ps(weights + 16)};
#pragma GCC unroll 8
                for (int p = 0; p < Pixels; ++p) add(sum[p], pixel(p * s.stride + t * s.dilation), w);
            }
        }
    }
    finish(s, c, there, sum);
}

template <int Pixels, int Columns, int Stride>
void tile_of(const DepthwiseTile& s) {
    const std::int64_t begin = s.first * s.stride - s.pad;
    const bool inner = Columns > 0 && begin >= 0 && begin + (Pixels - 1) * Stride + Columns <= s.width;
    for (std::int64_t c = s.first_block * lanes; c < s.last_block * lanes; c += lanes) {
        if (inner && c + lanes <= s.channels)
            tile<Pixels, Columns, Stride, Columns != 0>(s, c);
        else
            tile<Pixels, Columns, Stride, false>(s, c);
    }
}

template <int Pixels, int Columns, int Stride>
void any_pixels(const DepthwiseTile& s) {
    if constexpr (Pixels > 0) {
        if (s.pixels == Pixels) return tile_of<Pixels, Columns, Stride>(s);
        any_pixels<Pixels - 1, Columns, Stride>(s);
    }
}

}  // namespace

void run(const DepthwiseTile& s) {
    constexpr int most = static_cast<int>(depthwise_tile_pixels);
    const bool dense = s.dilation == 1;
    if (dense && s.columns == 3 && s.stride == 1) return any_pixels<most, 3, 1>(s);
    if (dense && s.columns == 3 && s.stride == 2) return any_pixels<most, 3, 2>(s);
    if (dense && s.columns == 5 && s.stride == 1) return any_pixels<most, 5, 1>(s);
    if (dense && s.columns == 5 && s.stride == 2) return any_pixels<most, 5, 2>(s);
    any_pixels<most, 0, 0>(s);
}

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES
