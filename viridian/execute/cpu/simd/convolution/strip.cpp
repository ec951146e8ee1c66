#include "viridian/execute/cpu/simd/convolution/strip.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/convolution/strip.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// Vectors of one block, and the pixels whose accumulators fit the registers beside two columns' weights.
constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int vectors = static_cast<int>(block) / lanes;
constexpr int columns_at_once = lanes == 16 ? 2 : 1;
constexpr int most_pixels = lanes == 16 ? 14 : lanes == 8 ? 6 : 2;
constexpr int channels_at_once = lanes == 16 ? 1 : 2;  // between two branches
constexpr int packed_at_once = lanes == 16 ? 1 : 4;    // the same of packed tiles

// What follows the sums. Vector stores may change anything, so nothing of the strip is looked at between
// them.
template <int Pixels, int Columns>
HWY_INLINE void finish(const Strip& s, std::int64_t first, V (&sum)[Pixels][Columns * vectors]) {
    constexpr int width = Columns * vectors;
    const D d;
    const V low = hn::Set(d, s.low), high = hn::Set(d, s.high);
    const std::int64_t pixel = s.result_pixel, column = s.result_block;
    float* result = s.result + first * pixel;
    const float* add = s.add == nullptr ? nullptr : s.add + first * pixel;
    const auto at = [&](int p, int v) { return p * pixel + v / vectors * column + v % vectors * lanes; };
    if (HWY_LIKELY(s.last_width == block)) {
        if (add != nullptr) {
#pragma GCC unroll 32
            for (int p = 0; p < Pixels; ++p)
#pragma GCC unroll 32
                for (int v = 0; v < width; ++v) sum[p][v] = hn::Add(sum[p][v], hn::LoadU(d, add + at(p, v)));
        }
        if (s.clip) {
#pragma GCC unroll 32
            for (int p = 0; p < Pixels; ++p)
#pragma GCC unroll 32
                for (int v = 0; v < width; ++v) sum[p][v] = hn::Min(high, hn::Max(low, sum[p][v]));
        }
#pragma GCC unroll 32
        for (int p = 0; p < Pixels; ++p)
#pragma GCC unroll 32
            for (int v = 0; v < width; ++v) hn::StoreU(sum[p][v], d, result + at(p, v));
        return;
    }
    HWY_ALIGN float all[Pixels * width * lanes];
#pragma GCC unroll 32
    for (int p = 0; p < Pixels; ++p)
#pragma GCC unroll 32
        for (int v = 0; v < width; ++v) hn::Store(sum[p][v], d, all + (p * width + v) * lanes);
    const std::int64_t valid = (Columns - 1) * block + s.last_width;
    for (std::int64_t p = 0; p < Pixels; ++p)
        for (std::int64_t c = 0; c < valid; ++c) {
            const std::int64_t to = p * pixel + c / block * column + c % block;
            float value = all[p * width * lanes + c];
            if (add != nullptr) value += add[to];
            if (s.clip) value = value < s.low ? s.low : value > s.high ? s.high : value;
            result[to] = value;
        }
}

#if HWY_TARGET == HWY_AVX2 && HWY_ARCH_X86_64
// clang-format off
#define VIRIDIAN_PIXEL(at, x, low, high)            \
    "vbroadcastss " at "(%[at]), %[" x "]\n\t"      \
    "vfmadd231ps %[left], %[" x "], %[" low "]\n\t" \
    "vfmadd231ps %[right], %[" x "], %[" high "]\n\t"
#define VIRIDIAN_CHANNEL(w0, w1, a, b, c, d, e, f)                                    \
    "vmovups " w0 "(%[w]), %[left]\n\t"                                               \
    "vmovups " w1 "(%[w]), %[right]\n\t"                                              \
    VIRIDIAN_PIXEL(a, "x", "s0", "s1") VIRIDIAN_PIXEL(b, "y", "s2", "s3")             \
    VIRIDIAN_PIXEL(c, "x", "s4", "s5") VIRIDIAN_PIXEL(d, "y", "s6", "s7")             \
    VIRIDIAN_PIXEL(e, "x", "s8", "s9") VIRIDIAN_PIXEL(f, "y", "s10", "s11")
// Sets the sums of a tile of six pixels to `left` and `right`, adds `count` times four channels, and advances
// `w` and `at`. `count` is at least 1. Each time it asks for the line at `ahead`, which then advances by
// `step` bytes. This is assembly because GCC 12, given the same loop in C++, moves some of the twelve sums to
// memory and back.
HWY_INLINE void add_fours(V (&sum)[6][2], V left, V right, const float*& w, const float*& at,
                          const float* ahead, std::int64_t step, std::int64_t count) {
    V x, y;
    asm volatile(
        "vmovaps %[left], %[s0]\n\tvmovaps %[left], %[s2]\n\tvmovaps %[left], %[s4]\n\t"
        "vmovaps %[left], %[s6]\n\tvmovaps %[left], %[s8]\n\tvmovaps %[left], %[s10]\n\t"
        "vmovaps %[right], %[s1]\n\tvmovaps %[right], %[s3]\n\tvmovaps %[right], %[s5]\n\t"
        "vmovaps %[right], %[s7]\n\tvmovaps %[right], %[s9]\n\tvmovaps %[right], %[s11]\n\t"
        ".p2align 4\n\t"
        "1:\n\t"
        "prefetcht1 (%[ahead])\n\tadd %[step], %[ahead]\n\t"
        VIRIDIAN_CHANNEL("0x00", "0x20", "0x00", "0x04", "0x08", "0x0c", "0x10", "0x14")
        VIRIDIAN_CHANNEL("0x40", "0x60", "0x18", "0x1c", "0x20", "0x24", "0x28", "0x2c")
        VIRIDIAN_CHANNEL("0x80", "0xa0", "0x30", "0x34", "0x38", "0x3c", "0x40", "0x44")
        VIRIDIAN_CHANNEL("0xc0", "0xe0", "0x48", "0x4c", "0x50", "0x54", "0x58", "0x5c")
        "add $0x100, %[w]\n\tadd $0x60, %[at]\n\tdec %[count]\n\tjnz 1b\n\t"
        : [w] "+&r"(w), [at] "+&r"(at), [ahead] "+&r"(ahead), [count] "+&r"(count),
          [s0] "=&x"(sum[0][0].raw), [s1] "=&x"(sum[0][1].raw), [s2] "=&x"(sum[1][0].raw),
          [s3] "=&x"(sum[1][1].raw), [s4] "=&x"(sum[2][0].raw), [s5] "=&x"(sum[2][1].raw),
          [s6] "=&x"(sum[3][0].raw), [s7] "=&x"(sum[3][1].raw), [s8] "=&x"(sum[4][0].raw),
          [s9] "=&x"(sum[4][1].raw), [s10] "=&x"(sum[5][0].raw), [s11] "=&x"(sum[5][1].raw),
          [left] "+x"(left.raw), [right] "+x"(right.raw), [x] "=&x"(x.raw), [y] "=&x"(y.raw)
        : [step] "r"(step)
        : "cc", "memory");
}
// clang-format on
#undef VIRIDIAN_CHANNEL
#undef VIRIDIAN_PIXEL
#endif

// The same sums of a packed tile, which the hardware reads ahead because it lies in a row. The weights of the
// next strip are asked for: with 512-bit vectors into the first cache, which holds no strip, and with AVX2
// into the second one.
template <int Pixels, int Columns>
HWY_INLINE void packed_tile(const Strip& s, std::int64_t first, std::int64_t part) {
    constexpr int width = Columns * vectors;
    const D d;
    V sum[Pixels][width];
#pragma GCC unroll 32
    for (int v = 0; v < width; ++v) {
        const V start = s.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, s.bias + v * lanes);
#pragma GCC unroll 32
        for (int p = 0; p < Pixels; ++p) sum[p][v] = start;
    }
    if (s.add != nullptr)
        for (int p = 0; p < Pixels; ++p)
            for (int c = 0; c < Columns; ++c)
                __builtin_prefetch(s.add + (first + p) * s.result_pixel + c * s.result_block);
    const float* w = s.weights;
    const float* at = s.source + first * s.channels;
    [[maybe_unused]] const float* ahead = s.ahead == nullptr ? w : s.ahead + part * s.channels * s.ahead_step;
    std::int64_t c = 0;
#if HWY_TARGET == HWY_AVX2 && HWY_ARCH_X86_64
    if constexpr (Pixels == most_pixels && width == 2)
        if (const std::int64_t fours = s.channels / 4; fours > 0) {
            constexpr std::int64_t bytes = 4 * sizeof(float);
            add_fours(sum, sum[0][0], sum[0][1], w, at, ahead, bytes * s.ahead_step, fours);
            c = 4 * fours;
        }
#endif
#pragma GCC unroll packed_at_once
    for (; c < s.channels; ++c, w += width * lanes, at += most_pixels) {
        V weight[width];
#pragma GCC unroll 32
        for (int v = 0; v < width; ++v) weight[v] = hn::LoadU(d, w + v * lanes);
        if constexpr (lanes == 16) {
            __builtin_prefetch(ahead);
            ahead += s.ahead_step;
        }
#pragma GCC unroll 32
        for (int p = 0; p < Pixels; ++p) {
            const V x = hn::Set(d, at[p]);
#pragma GCC unroll 32
            for (int v = 0; v < width; ++v) sum[p][v] = hn::MulAdd(x, weight[v], sum[p][v]);
        }
    }
    finish<Pixels, Columns>(s, first, sum);
}

// With `Subtracts` the weights are made here, for the tiles that follow.
template <int Pixels, int Columns, int PixelStride, bool Subtracts = false>
HWY_INLINE void tile(const Strip& s, std::int64_t first, std::int64_t part) {
    constexpr int width = Columns * vectors;
    const D d;
    V sum[Pixels][width];
#pragma GCC unroll 32
    for (int v = 0; v < width; ++v) {
        const V start = s.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, s.bias + v * lanes);
#pragma GCC unroll 32
        for (int p = 0; p < Pixels; ++p) sum[p][v] = start;
    }
    const float* w = s.weights;
    const float* source = s.source + first * PixelStride;
    const bool next = s.ahead != nullptr;
    const std::int64_t step = next ? s.ahead_step : width * lanes;
    const std::int64_t second = next ? 0 : 16;
    const float* ahead = next ? s.ahead + part * s.tap_count * s.channels * s.ahead_step : w + 1024;
    constexpr std::int64_t channel = PixelStride == 1 ? block : 1;  // to the next one
    const std::int64_t source_block = PixelStride == 1 ? block * block : s.source_block;
    for (std::int64_t t = 0; t < s.tap_count; ++t) {
        const float* at = source + s.taps[t];
        for (std::int64_t left = s.channels; left > 0; left -= block, at += source_block) {
            const std::int64_t n = left < block ? left : block;
#pragma GCC unroll channels_at_once
            for (std::int64_t c = 0; c < n; ++c) {
                V weight[width];
#pragma GCC unroll 32
                for (int v = 0; v < width; ++v) {
                    if constexpr (Subtracts) {
                        const std::int64_t here = w - s.weights + v * lanes;
                        weight[v] =
                            hn::Sub(hn::LoadU(d, s.minuend + here), hn::LoadU(d, s.subtrahend + here));
                        hn::StoreU(weight[v], d, s.difference + here);
                    } else {
                        weight[v] = hn::LoadU(d, w + v * lanes);
                    }
                }
                __builtin_prefetch(ahead);
                if constexpr (Columns == 2) __builtin_prefetch(ahead + second);
                ahead += step;
                w += width * lanes;
#pragma GCC unroll 32
                for (int p = 0; p < Pixels; ++p) {
                    const V x = hn::Set(d, at[p * PixelStride + c * channel]);
#pragma GCC unroll 32
                    for (int v = 0; v < width; ++v) sum[p][v] = hn::MulAdd(x, weight[v], sum[p][v]);
                }
            }
        }
    }
    finish<Pixels, Columns>(s, first, sum);
}

// Tiles side by side: `part` tells how many came before.
template <int Pixels, int Columns, int PixelStride, bool Subtracts = false>
HWY_NOINLINE void tiles(const Strip& s, std::int64_t first, std::int64_t count, std::int64_t part) {
    for (std::int64_t i = 0; i < count; ++i)
        if constexpr (PixelStride == 0)
            packed_tile<Pixels, Columns>(s, first + i * Pixels, part + i);
        else
            tile<Pixels, Columns, PixelStride, Subtracts>(s, first + i * Pixels, part + i);
}

template <int Pixels, int Columns, int PixelStride>
void tiles_of(const Strip& s, std::int64_t width, std::int64_t first, std::int64_t count, std::int64_t part) {
    if constexpr (Pixels > 0) {
        if (width == Pixels) return tiles<Pixels, Columns, PixelStride>(s, first, count, part);
        tiles_of<Pixels - 1, Columns, PixelStride>(s, width, first, count, part);
    }
}

template <int Columns, int PixelStride>
void strip_of(const Strip& s) {
    std::int64_t first = 0, part = 0;
    if constexpr (PixelStride == block)
        if (s.minuend != nullptr) {
            tiles<most_pixels, Columns, PixelStride, true>(s, 0, 1, part++);
            first = most_pixels;
        }
    const std::int64_t left = s.pixels - first;
    if constexpr (PixelStride == 0 || (lanes == 16 && PixelStride != 1)) {
        const std::int64_t whole = left / most_pixels;
        tiles<most_pixels, Columns, PixelStride>(s, first, whole, part);
        tiles_of<most_pixels - 1, Columns, PixelStride>(s, left % most_pixels, first + whole * most_pixels, 1,
                                                        part + whole);
    } else if (left > 0) {
        // Narrow tiles have too few sums to hide how long each takes, so they are of nearly equal width. That
        // is also best for 16 pixels side by side, which no number of wide tiles would fill.
        const std::int64_t count = (left + most_pixels - 1) / most_pixels;
        const std::int64_t width = left / count, wider = left % count;
        tiles_of<most_pixels, Columns, PixelStride>(s, width + 1, first, wider, part);
        tiles_of<most_pixels, Columns, PixelStride>(s, width, first + wider * (width + 1), count - wider,
                                                    part + wider);
    }
}

template <int Columns>
void strip_by_stride(const Strip& s) {
    switch (s.source_pixel) {
        case 32:
            return strip_of<Columns, 32>(s);
        case 4:
            return strip_of<Columns, 4>(s);
        case 8:
            return strip_of<Columns, 8>(s);
        case 1:
            return strip_of<Columns, 1>(s);
        case 0:
            return strip_of<Columns, 0>(s);
        default:
            return strip_of<Columns, 16>(s);
    }
}

// Where weights are used by several tiles, what lies behind them is read ahead meanwhile: the next strip's.
Strip reading_ahead(Strip s) {
    const std::int64_t tiles = (s.pixels + most_pixels - 1) / most_pixels;
    if (lanes == 16 || s.ahead != nullptr || s.minuend != nullptr || tiles < 2) return s;
    s.ahead = s.weights + s.tap_count * s.channels * s.columns * block;
    s.ahead_step = (s.columns * block + tiles - 1) / tiles;
    return s;
}

void strip(const Strip& given) {
    const Strip s = reading_ahead(given);
    if constexpr (columns_at_once == 2)
        if (s.columns == 2) return strip_by_stride<2>(s);
    strip_by_stride<1>(s);
}

int columns() { return columns_at_once; }
int pixels() { return most_pixels; }

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(strip);
HWY_EXPORT(columns);
HWY_EXPORT(pixels);

void run(const Strip& s) { HWY_DYNAMIC_DISPATCH(strip)(s); }
int best_columns() { return HWY_DYNAMIC_DISPATCH(columns)(); }

int tile_pixels() { return HWY_DYNAMIC_DISPATCH(pixels)(); }

}  // namespace viridian::execute::cpu::simd
#endif
