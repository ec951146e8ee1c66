#include "viridian/execute/cpu/simd/convolution/winograd.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/convolution/winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));

HWY_INLINE V plus(V y, float factor, V x) { return hn::MulAdd(hn::Set(D(), factor), x, y); }  // y + factor·x

// Bᵀ x
HWY_INLINE void source_line(const V (&x)[4], V (&t)[4]) {
    t[0] = hn::Sub(x[0], x[2]);
    t[1] = hn::Add(x[1], x[2]);
    t[2] = hn::Sub(x[2], x[1]);
    t[3] = hn::Sub(x[1], x[3]);
}
HWY_INLINE void source_line(const V (&x)[6], V (&t)[6]) {
    const V even = plus(x[4], -4, x[2]), odd = plus(x[3], -4, x[1]);
    const V even2 = hn::Sub(x[4], x[2]), odd2 = hn::Sub(x[3], x[1]);
    t[0] = plus(plus(x[4], -5, x[2]), 4, x[0]);
    t[1] = hn::Add(even, odd);
    t[2] = hn::Sub(even, odd);
    t[3] = plus(even2, 2, odd2);
    t[4] = plus(even2, -2, odd2);
    t[5] = plus(plus(x[5], -5, x[3]), 4, x[1]);
}
// Aᵀ m
HWY_INLINE void result_line(const V (&m)[4], V (&y)[2]) {
    y[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    y[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
}
HWY_INLINE void result_line(const V (&m)[6], V (&y)[4]) {
    const V s1 = hn::Add(m[1], m[2]), d1 = hn::Sub(m[1], m[2]);
    const V s2 = hn::Add(m[3], m[4]), d2 = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(m[0], hn::Add(s1, s2));
    y[1] = plus(d1, 2, d2);
    y[2] = plus(s1, 4, s2);
    y[3] = hn::Add(plus(d1, 8, d2), m[5]);
}

template <int M>
void source_tile(const float* const* pixels, float* to, std::int64_t step) {
    constexpr int n = M + 2;
    const D d;
    for (int lane = 0; lane < 16; lane += lanes) {
        HWY_ALIGN float half[n * n * lanes];
#pragma GCC unroll 6
        for (int j = 0; j < n; ++j) {
            V x[n], t[n];
#pragma GCC unroll 6
            for (int i = 0; i < n; ++i) x[i] = hn::LoadU(d, pixels[i * n + j] + lane);
            source_line(x, t);
#pragma GCC unroll 6
            for (int i = 0; i < n; ++i) hn::Store(t[i], d, half + (i * n + j) * lanes);
        }
#pragma GCC unroll 6
        for (int i = 0; i < n; ++i) {
            V x[n], t[n];
#pragma GCC unroll 6
            for (int j = 0; j < n; ++j) x[j] = hn::Load(d, half + (i * n + j) * lanes);
            source_line(x, t);
#pragma GCC unroll 6
            for (int j = 0; j < n; ++j) hn::StoreU(t[j], d, to + (i * n + j) * step + lane);
        }
    }
}

template <int M>
void result_tile(const WinogradResult& r) {
    constexpr int n = M + 2;
    const D d;
    const V low = hn::Set(d, r.low), high = hn::Set(d, r.high);
    for (int lane = 0; lane < 16; lane += lanes) {
        HWY_ALIGN float half[M * n * lanes];
#pragma GCC unroll 6
        for (int j = 0; j < n; ++j) {
            V m[n], y[M];
#pragma GCC unroll 6
            for (int i = 0; i < n; ++i) m[i] = hn::LoadU(d, r.from + (i * n + j) * r.step + lane);
            result_line(m, y);
#pragma GCC unroll 6
            for (int i = 0; i < M; ++i) hn::Store(y[i], d, half + (i * n + j) * lanes);
        }
        const V bias = r.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, r.bias + lane);
        for (int i = 0; i < r.height; ++i) {
            V m[n], y[M];
#pragma GCC unroll 6
            for (int j = 0; j < n; ++j) m[j] = hn::Load(d, half + (i * n + j) * lanes);
            result_line(m, y);
#pragma GCC unroll 6
            for (int j = 0; j < M; ++j) {
                if (j >= r.width) break;
                const std::int64_t at = i * r.row + j * 16 + lane;
                V v = hn::Add(y[j], bias);
                if (r.add != nullptr) v = hn::Add(v, hn::LoadU(d, r.add + at));
                if (r.clip) v = hn::Min(high, hn::Max(low, v));
                hn::StoreU(v, d, r.to + at);
            }
        }
    }
}

void source(int m, const float* const* pixels, float* to, std::int64_t step) {
    m == 2 ? source_tile<2>(pixels, to, step) : source_tile<4>(pixels, to, step);
}
void result(int m, const WinogradResult& r) { m == 2 ? result_tile<2>(r) : result_tile<4>(r); }

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(source);
HWY_EXPORT(result);

void winograd_source(int m, const float* const* pixels, float* to, std::int64_t step) {
    HWY_DYNAMIC_DISPATCH(source)(m, pixels, to, step);
}
void winograd_result(int m, const WinogradResult& r) { HWY_DYNAMIC_DISPATCH(result)(m, r); }

void winograd_weights(int m, const float* g, double* components) {
    constexpr double two[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
    constexpr double four[6][3] = {{0.25, 0, 0},
                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                   {0, 0, 1}};
    const int n = m + 2;
    const auto row = [&](int i) { return m == 2 ? two[i] : four[i]; };
    double half[6][3];  // G g
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 3; ++j) {
            half[i][j] = 0;
            for (int k = 0; k < 3; ++k) half[i][j] += row(i)[k] * static_cast<double>(g[k * 3 + j]);
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            components[i * n + j] = 0;
            for (int k = 0; k < 3; ++k) components[i * n + j] += half[i][k] * row(j)[k];
        }
}

}  // namespace viridian::execute::cpu::simd
#endif
