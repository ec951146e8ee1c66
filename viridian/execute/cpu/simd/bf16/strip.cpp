#include "viridian/execute/cpu/simd/bf16/strip.hpp"

#include <cstring>

#include "viridian/execute/cpu/simd/bf16/lanes.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

// Pixels whose accumulators fit the registers beside two columns' weights.
constexpr int most_pixels = 14;

HWY_INLINE __m512bh pairs(__m512i words) { return reinterpret_cast<__m512bh>(words); }

template <int Pixels, int Columns>
HWY_INLINE void finish(const Bf16Strip& s, std::int64_t first, const __m512 (&sum)[Pixels][Columns]) {
    const __m512 low = _mm512_set1_ps(s.low), high = _mm512_set1_ps(s.high);
#pragma GCC unroll 2
    for (int v = 0; v < Columns; ++v) {
        const auto valid = static_cast<__mmask16>(v + 1 < Columns ? 0xffffU : (1U << s.last_width) - 1U);
#pragma GCC unroll 32
        for (int p = 0; p < Pixels; ++p) {
            __m512 x = sum[p][v];
            const std::int64_t column = v * s.result_block;
            if (s.add != nullptr)
                x = _mm512_add_ps(x,
                                  load_lanes(s.add, s.add_narrow, (first + p) * s.add_pixel + column, valid));
            // NaN stays: of two the second is the answer.
            if (s.clip) x = _mm512_maskz_min_ps(every_lane, high, _mm512_maskz_max_ps(every_lane, low, x));
            store_lanes(x, s.result, s.narrow, (first + p) * s.result_pixel + column, valid);
        }
    }
}

// `lines`: cache lines of what follows the weights, read ahead for every block of channels from `ahead` on.
template <int Pixels, int Columns>
HWY_NOINLINE void tile(const Bf16Strip& s, std::int64_t first, const std::uint16_t* ahead, int lines) {
    __m512 sum[Pixels][Columns];
#pragma GCC unroll 2
    for (int v = 0; v < Columns; ++v) {
        const __m512 start = s.bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(s.bias + v * block);
#pragma GCC unroll 32
        for (int p = 0; p < Pixels; ++p) sum[p][v] = start;
    }
    const std::uint16_t* w = s.weights;
    const std::uint16_t* at = s.source + first * block;
    for (std::int64_t left = s.channels; left > 0; left -= block, at += s.source_block) {
        for (int i = 0; i < lines; ++i, ahead += 32) _mm_prefetch(ahead, _MM_HINT_T1);
        const std::int64_t n = left < block ? left : block;
        for (std::int64_t c = 0; c < n; c += 2) {
            __m512bh weight[Columns];
#pragma GCC unroll 2
            for (int v = 0; v < Columns; ++v) {
                weight[v] = pairs(_mm512_loadu_si512(w + v * 2 * block));
                _mm_prefetch(w + 1024 + v * 2 * block, _MM_HINT_T0);
            }
            w += Columns * 2 * block;
#pragma GCC unroll 32
            for (int p = 0; p < Pixels; ++p) {
                int two;
                std::memcpy(&two, at + p * block + c, sizeof two);
                const __m512bh x = pairs(_mm512_set1_epi32(two));
#pragma GCC unroll 2
                for (int v = 0; v < Columns; ++v) sum[p][v] = _mm512_dpbf16_ps(sum[p][v], x, weight[v]);
            }
        }
    }
    finish(s, first, sum);
}

template <int Pixels, int Columns>
void tile_of(const Bf16Strip& s, std::int64_t pixels, std::int64_t first, const std::uint16_t* ahead,
             int lines) {
    if constexpr (Pixels > 0) {
        if (pixels == Pixels) return tile<Pixels, Columns>(s, first, ahead, lines);
        tile_of<Pixels - 1, Columns>(s, pixels, first, ahead, lines);
    }
}

// Tiles of nearly equal size: a last one of few pixels would wait for its sums.
template <int Columns>
void strip_of(const Bf16Strip& s) {
    const std::int64_t tiles = (s.pixels + most_pixels - 1) / most_pixels;
    const std::int64_t blocks = (s.channels + block - 1) / block;
    const std::int64_t lines = (block / 2 * Columns + tiles - 1) / tiles;
    const std::uint16_t* ahead = s.weights + (s.channels + 1) / 2 * Columns * 2 * block;
    for (std::int64_t t = 0; t < tiles; ++t, ahead += blocks * lines * 32) {
        const std::int64_t first = s.pixels * t / tiles, last = s.pixels * (t + 1) / tiles;
        tile_of<most_pixels, Columns>(s, last - first, first, ahead, static_cast<int>(lines));
    }
}

}  // namespace

void run(const Bf16Strip& s) { s.columns == 2 ? strip_of<2>(s) : strip_of<1>(s); }

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES
