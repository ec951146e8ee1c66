#include "viridian/execute/cpu/simd/bf16/winograd_transforms.hpp"

#include <immintrin.h>

#include <hwy/base.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

using V = __m512;

// g++ 12 takes the undefined operand of the unmasked intrinsics for an error.
constexpr __mmask16 every = 0xffff;

HWY_INLINE V load(const std::uint16_t* from) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(every, _mm512_maskz_cvtepu16_epi32(every, halves), 16));
}
HWY_INLINE void store(V x, std::uint16_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

// Σ over every second one of [First, Last) of row[i]·x[i]
template <int First, int Last, int N>
HWY_INLINE V half(const float* row, const V (&x)[N]) {
    V sum = _mm512_mul_ps(_mm512_set1_ps(row[First]), x[First]);
#pragma GCC unroll 12
    for (int i = First + 2; i < Last; i += 2) sum = _mm512_fmadd_ps(_mm512_set1_ps(row[i]), x[i], sum);
    return sum;
}

// Bᵀ x. The product over the points' factors but one has no constant term, unless that one is the point 0.
template <int N>
HWY_INLINE void source_line(const LineTransform& t, const V (&x)[N], V (&to)[N]) {
    constexpr int pairs = (N - 2) / 2;
    to[0] = half<0, N>(t.source[0], x);
#pragma GCC unroll 6
    for (int j = 0; j < pairs; ++j) {
        const V even = half<2, N>(t.source[1 + j], x), odd = half<1, N - 1>(t.source[1 + j], x);
        to[1 + 2 * j] = _mm512_add_ps(even, odd);
        to[2 + 2 * j] = _mm512_sub_ps(even, odd);
    }
    to[N - 1] = half<1, N>(t.source[1 + pairs], x);
}

// Aᵀ m
template <int N, int M>
HWY_INLINE void result_line(const LineTransform& t, const V (&m)[N], V (&y)[M]) {
    constexpr int pairs = (N - 2) / 2;
    y[0] = m[0];
#pragma GCC unroll 6
    for (int k = 1; k < M; ++k) y[k] = k + 1 < M ? _mm512_setzero_ps() : m[N - 1];
#pragma GCC unroll 6
    for (int j = 0; j < pairs; ++j) {
        const V sum = _mm512_add_ps(m[1 + 2 * j], m[2 + 2 * j]);
        const V difference = _mm512_sub_ps(m[1 + 2 * j], m[2 + 2 * j]);
#pragma GCC unroll 6
        for (int k = 0; k < M; ++k)
            y[k] = _mm512_fmadd_ps(_mm512_set1_ps(t.power[j][k]), k % 2 == 0 ? sum : difference, y[k]);
    }
}

template <int N>
void source_of_line(const WinogradBf16& f, const std::uint16_t* const* pixels, std::uint16_t* to,
                    std::int64_t step) {
    V x[N], t[N];
#pragma GCC unroll 12
    for (int i = 0; i < N; ++i) x[i] = load(pixels[i]);
    source_line(f.line, x, t);
#pragma GCC unroll 12
    for (int i = 0; i < N; ++i) store(t[i], to + i * step);
}

template <int N>
void source_of_square(const WinogradBf16& f, const std::uint16_t* const* pixels, std::uint16_t* to,
                      std::int64_t step) {
    V half[N][N];
    for (int j = 0; j < N; ++j) {
        V x[N], t[N];
#pragma GCC unroll 6
        for (int i = 0; i < N; ++i) x[i] = load(pixels[i * N + j]);
        source_line(f.line, x, t);
#pragma GCC unroll 6
        for (int i = 0; i < N; ++i) half[i][j] = t[i];
    }
    for (int i = 0; i < N; ++i) {
        V t[N];
        source_line(f.line, half[i], t);
#pragma GCC unroll 6
        for (int j = 0; j < N; ++j) store(t[j], to + (i * N + j) * step);
    }
}

// One line of results, `pixel` elements apart.
template <int M>
HWY_INLINE void finish(const WinogradBf16Result& r, V (&y)[M], std::int64_t at, std::int64_t pixel,
                       int count) {
    const V bias = r.bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(r.bias);
    const V low = _mm512_set1_ps(r.low), high = _mm512_set1_ps(r.high);
#pragma GCC unroll 6
    for (int k = 0; k < M; ++k) {
        if (k >= count) break;
        V v = _mm512_add_ps(y[k], bias);
        const std::int64_t here = at + k * pixel;
        if (r.add != nullptr)
            v = _mm512_add_ps(v, r.narrow ? load(static_cast<const std::uint16_t*>(r.add) + here)
                                          : _mm512_loadu_ps(static_cast<const float*>(r.add) + here));
        // NaN stays: of two the second is the answer.
        if (r.clip) v = _mm512_maskz_min_ps(every, high, _mm512_maskz_max_ps(every, low, v));
        if (r.narrow)
            store(v, static_cast<std::uint16_t*>(r.to) + here);
        else
            _mm512_storeu_ps(static_cast<float*>(r.to) + here, v);
    }
}

template <int N, int M>
void result_of_line(const WinogradBf16& f, const WinogradBf16Result& r) {
    V m[N], y[M];
#pragma GCC unroll 12
    for (int i = 0; i < N; ++i) m[i] = _mm512_loadu_ps(r.from + i * r.step);
    result_line(f.line, m, y);
    r.height > 1 ? finish(r, y, 0, r.row, r.height) : finish(r, y, 0, 16, r.width);
}

template <int N, int M>
void result_of_square(const WinogradBf16& f, const WinogradBf16Result& r) {
    V half[M][N];
    for (int j = 0; j < N; ++j) {
        V m[N], y[M];
#pragma GCC unroll 6
        for (int i = 0; i < N; ++i) m[i] = _mm512_loadu_ps(r.from + (i * N + j) * r.step);
        result_line(f.line, m, y);
#pragma GCC unroll 6
        for (int i = 0; i < M; ++i) half[i][j] = y[i];
    }
    for (int i = 0; i < r.height; ++i) {
        V y[M];
        result_line(f.line, half[i], y);
        finish(r, y, i * r.row, 16, r.width);
    }
}

}  // namespace

void winograd_bf16_source(const WinogradBf16& f, const std::uint16_t* const* pixels, std::uint16_t* to,
                          std::int64_t step) {
    const int n = f.line.components();
    if (f.square)
        return n == 4 ? source_of_square<4>(f, pixels, to, step) : source_of_square<6>(f, pixels, to, step);
    switch (n) {
        case 4:
            return source_of_line<4>(f, pixels, to, step);
        case 6:
            return source_of_line<6>(f, pixels, to, step);
        case 8:
            return source_of_line<8>(f, pixels, to, step);
        default:
            return source_of_line<10>(f, pixels, to, step);
    }
}

void winograd_bf16_result(const WinogradBf16& f, const WinogradBf16Result& r) {
    const int n = f.line.components();
    if (f.square) return n == 4 ? result_of_square<4, 2>(f, r) : result_of_square<6, 4>(f, r);
    switch (n * 10 + f.line.m) {
        case 42:
            return result_of_line<4, 2>(f, r);
        case 62:
            return result_of_line<6, 2>(f, r);
        case 64:
            return result_of_line<6, 4>(f, r);
        case 82:
            return result_of_line<8, 2>(f, r);
        case 84:
            return result_of_line<8, 4>(f, r);
        default:
            return result_of_line<10, 4>(f, r);
    }
}

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES

namespace viridian::execute::cpu::simd {

WinogradBf16 winograd_bf16(int m, int r, bool square) { return {line_transform(m, r), square}; }

void winograd_bf16_weights(const WinogradBf16& filter, const float* g, double* components) {
    const LineTransform& t = filter.line;
    const int n = t.components();
    if (!filter.square) return line_weights(t, g, components);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            components[i * n + j] = 0;
            for (int k = 0; k < t.r; ++k)
                for (int l = 0; l < t.r; ++l)
                    components[i * n + j] +=
                        t.weights[i][k] * t.weights[j][l] * static_cast<double>(g[k * t.r + l]);
        }
}

}  // namespace viridian::execute::cpu::simd
