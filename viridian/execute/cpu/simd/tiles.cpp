#include "viridian/execute/cpu/simd/tiles.hpp"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hwy/base.h>
#include <algorithm>
#include <array>

#include "viridian/base/machine.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

// Tiles 0 to 3 are sums ([row tile][column block]), 4 and 5 source rows, 6 and 7 weights.
struct alignas(64) Configuration {
    std::uint8_t palette = 1, start = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> bytes{};  // of a row
    std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(Configuration) == 64);

// The intrinsics of g++ 12 do not say that they read memory.
template <int Tile>
HWY_INLINE void load_tile(const void* from, std::int64_t bytes) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(Tile), "r"(from), "r"(bytes) : "memory");
}
template <int Tile>
HWY_INLINE void store_tile(void* to, std::int64_t bytes) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(Tile), "r"(to), "r"(bytes) : "memory");
}
template <int Tile>
HWY_INLINE void zero_tile() {
    asm volatile("tilezero %%tmm%c0" ::"i"(Tile));
}
template <int Sum, int Source, int Weights>
HWY_INLINE void multiply_tiles() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sum), "i"(Source), "i"(Weights));
}

constexpr __mmask16 every = 0xffff;
constexpr std::int64_t sums_row = 32;  // floats
constexpr std::int64_t band_tiles = 8;
constexpr std::int64_t pass_lines = 256;   // of weights, 64 bytes each
constexpr std::int64_t ahead_lines = 512;  // how far ahead weights are read

HWY_INLINE __m512 load(const void* from, bool narrow, std::int64_t at, __mmask16 valid) {
    if (!narrow) return _mm512_maskz_loadu_ps(valid, static_cast<const float*>(from) + at);
    const __m256i halves = _mm256_maskz_loadu_epi16(valid, static_cast<const std::uint16_t*>(from) + at);
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(every, _mm512_maskz_cvtepu16_epi32(every, halves), 16));
}

HWY_INLINE void store(__m512 x, void* to, bool narrow, std::int64_t at, __mmask16 valid) {
    if (!narrow) return _mm512_mask_storeu_ps(static_cast<float*>(to) + at, valid, x);
    _mm256_mask_storeu_epi16(static_cast<std::uint16_t*>(to) + at, valid,
                             reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

// Rows [first, first + count) from their sums into the result.
template <int Columns>
void finish(const TileStrip& s, std::int64_t first, std::int64_t count, const float* sums) {
    const __m512 low = _mm512_set1_ps(s.low), high = _mm512_set1_ps(s.high);
    __m512 bias[Columns];
    __mmask16 valid[Columns];
    for (int v = 0; v < Columns; ++v) {
        bias[v] = s.bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(s.bias + v * 16);
        valid[v] = static_cast<__mmask16>(v + 1 < Columns ? 0xffffU : (1U << s.last_width) - 1U);
    }
    std::int64_t x = first % s.pitch;
    std::int64_t at = (first / s.pitch * s.width + std::min(x, s.width)) * s.result_row;
    for (std::int64_t r = 0; r < count; ++r, sums += sums_row) {
        const bool counts = x < s.width;
        if (++x == s.pitch) x = 0;
        if (!counts) continue;
#pragma GCC unroll 2
        for (int v = 0; v < Columns; ++v) {
            __m512 y = _mm512_add_ps(_mm512_load_ps(sums + v * 16), bias[v]);
            if (s.add != nullptr) y = _mm512_add_ps(y, load(s.add, s.narrow, at + v * 16, valid[v]));
            // NaN stays: of two the second is the answer.
            if (s.clip) y = _mm512_maskz_min_ps(every, high, _mm512_maskz_max_ps(every, low, y));
            store(y, s.result, s.narrow, at + v * 16, valid[v]);
        }
        at += s.result_row;
    }
}

// Weights that are read ahead while others are multiplied.
struct Ahead {
    const std::uint16_t* at = nullptr;
    std::int64_t lines = 0;  // for every block of channels
};

// Two tiles of rows (or one) from `row` on, `second` rows apart, by blocks of channels [begin, end) of all
// runs: added to the sums, or where they begin, in their place.
template <int Tiles, int Columns>
void multiply(const TileStrip& s, std::int64_t row, std::int64_t second, std::int64_t begin, std::int64_t end,
              Ahead& ahead, float* sums) {
    float* below_sums = sums + second * sums_row;
    if (begin == 0) {
        zero_tile<0>();
        if constexpr (Columns > 1) zero_tile<1>();
        if constexpr (Tiles > 1) zero_tile<2>();
        if constexpr (Tiles > 1 && Columns > 1) zero_tile<3>();
    } else {
        load_tile<0>(sums, sums_row * 4);
        if constexpr (Columns > 1) load_tile<1>(sums + 16, sums_row * 4);
        if constexpr (Tiles > 1) load_tile<2>(below_sums, sums_row * 4);
        if constexpr (Tiles > 1 && Columns > 1) load_tile<3>(below_sums + 16, sums_row * 4);
    }
    const std::int64_t row_bytes = s.source_row * 2, tile = s.channels * 16;
    const std::uint16_t* w = s.weights + begin * tile * Columns;
    const std::uint16_t* next = ahead.at;
    const std::int64_t lines = ahead.lines;
    for (std::int64_t block = begin; block < end;) {
        const std::int64_t run = block / s.run_blocks, in_run = block % s.run_blocks;
        const std::int64_t count = std::min(end - block, s.run_blocks - in_run);
        const std::uint16_t* above = s.source + row * s.source_row + s.runs[run] + in_run * s.channels;
        const std::uint16_t* below = above + second * s.source_row;
        for (std::int64_t b = 0; b < count; ++b, above += s.channels, below += s.channels) {
            load_tile<6>(w, 64);
            load_tile<4>(above, row_bytes);
            multiply_tiles<0, 4, 6>();
            if constexpr (Tiles > 1) {
                load_tile<5>(below, row_bytes);
                multiply_tiles<2, 5, 6>();
            }
            if constexpr (Columns > 1) {
                load_tile<7>(w + tile, 64);
                multiply_tiles<1, 4, 7>();
                if constexpr (Tiles > 1) multiply_tiles<3, 5, 7>();
            }
            w += tile * Columns;
            for (std::int64_t i = 0; i < lines; ++i, next += 32) _mm_prefetch(next, _MM_HINT_T1);
        }
        block += count;
    }
    ahead.at = next;
    store_tile<0>(sums, sums_row * 4);
    if constexpr (Columns > 1) store_tile<1>(sums + 16, sums_row * 4);
    if constexpr (Tiles > 1) store_tile<2>(below_sums, sums_row * 4);
    if constexpr (Tiles > 1 && Columns > 1) store_tile<3>(below_sums + 16, sums_row * 4);
}

void configure(std::int64_t above, std::int64_t below, std::int64_t channels) {
    Configuration c;
    const auto set = [&](std::size_t tile, std::int64_t rows, std::int64_t bytes) {
        if (rows == 0) return;
        c.rows[tile] = static_cast<std::uint8_t>(rows);
        c.bytes[tile] = static_cast<std::uint16_t>(bytes);
    };
    for (const std::size_t i : {0U, 1U}) {
        set(i, above, 64);
        set(2 + i, below, 64);
        set(6 + i, channels / 2, 64);
    }
    set(4, above, channels * 2);
    set(5, below, channels * 2);
    asm volatile("ldtilecfg %0" ::"m"(c));
}

// Bands of rows whose sums, and within them passes over blocks of channels whose weights, stay in the first
// cache while the band's rows go by.
template <int Columns>
void strip_of(const TileStrip& s) {
    alignas(64) float sums[band_tiles * tile_rows * sums_row];
    const std::int64_t tiles = (s.rows + tile_rows - 1) / tile_rows, height = (s.rows + tiles - 1) / tiles;
    const std::int64_t blocks = s.run_count * s.run_blocks;
    const std::int64_t lines = s.channels / 2 * Columns;  // of a block's weights
    std::int64_t configured = 0;
    for (std::int64_t band = 0; band < tiles; band += band_tiles) {
        const std::int64_t band_end = std::min(tiles, band + band_tiles), pairs = (band_end - band + 1) / 2;
        const std::int64_t passes = pairs == 1 ? 1 : std::max<std::int64_t>(1, blocks * lines / pass_lines);
        for (std::int64_t pass = 0; pass < passes; ++pass) {
            const std::int64_t begin = blocks * pass / passes, end = blocks * (pass + 1) / passes;
            Ahead ahead;
            if (band == 0 && s.ahead)
                ahead = {s.weights + (begin * lines + ahead_lines) * 32, (lines + pairs - 1) / pairs};
            for (std::int64_t t = band; t < band_end; t += 2) {
                const std::int64_t row = t * height, above = std::min(height, s.rows - row);
                const std::int64_t below = t + 1 < tiles ? std::min(height, s.rows - row - above) : 0;
                if (configured != above * 17 + below) configure(above, below, s.channels);
                configured = above * 17 + below;
                float* at = sums + (t - band) * height * sums_row;
                below > 0 ? multiply<2, Columns>(s, s.first + row, above, begin, end, ahead, at)
                          : multiply<1, Columns>(s, s.first + row, 0, begin, end, ahead, at);
                if (end == blocks) finish<Columns>(s, s.first + row, above + below, at);
            }
        }
    }
}

}  // namespace

void run(const TileStrip& s) { s.columns == 2 ? strip_of<2>(s) : strip_of<1>(s); }

void release_tiles() { asm volatile("tilerelease"); }

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES

namespace viridian::execute::cpu::simd {

bool matrix_unit() {
    // Linux: the registers are given to processes that ask (arch_prctl(ARCH_REQ_XCOMP_PERM,
    // XFEATURE_XTILEDATA)).
    static const bool granted = [] {
        const Machine machine = this_machine();
        return machine.has("amx_bf16") && machine.has("avx512_bf16") &&
               syscall(SYS_arch_prctl, 0x1023, 18) == 0;
    }();
    return granted;
}

}  // namespace viridian::execute::cpu::simd
