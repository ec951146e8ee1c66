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

// G g
HWY_INLINE void weights_line(const V (&g)[3], V (&t)[4]) {
    const D d;
    const V half = hn::Set(d, 0.5F), ends = hn::Add(g[0], g[2]);
    t[0] = g[0];
    t[1] = hn::Mul(half, hn::Add(ends, g[1]));
    t[2] = hn::Mul(half, hn::Sub(ends, g[1]));
    t[3] = g[2];
}
HWY_INLINE void weights_line(const V (&g)[3], V (&t)[6]) {
    const D d;
    const V ends = hn::Add(g[0], g[2]), sixth = hn::Set(d, 1.0F / 6);
    const V far = plus(hn::Mul(hn::Set(d, 1.0F / 24), g[0]), 1.0F / 6, g[2]);
    const V middle = hn::Mul(hn::Set(d, 1.0F / 12), g[1]);
    t[0] = hn::Mul(hn::Set(d, 0.25F), g[0]);
    t[1] = hn::Neg(hn::Mul(sixth, hn::Add(ends, g[1])));
    t[2] = hn::Mul(sixth, hn::Sub(g[1], ends));
    t[3] = hn::Add(far, middle);
    t[4] = hn::Sub(far, middle);
    t[5] = g[2];
}

// A y
HWY_INLINE void result_gradient_line(const V (&y)[2], V (&t)[4]) {
    t[0] = y[0];
    t[1] = hn::Add(y[0], y[1]);
    t[2] = hn::Sub(y[0], y[1]);
    t[3] = hn::Neg(y[1]);
}
HWY_INLINE void result_gradient_line(const V (&y)[4], V (&t)[6]) {
    const V even = hn::Add(y[0], y[2]), odd = hn::Add(y[1], y[3]);
    const V even2 = plus(y[0], 4, y[2]), odd2 = plus(y[1], 4, y[3]);
    t[0] = y[0];
    t[1] = hn::Add(even, odd);
    t[2] = hn::Sub(even, odd);
    t[3] = plus(even2, 2, odd2);
    t[4] = plus(even2, -2, odd2);
    t[5] = y[3];
}
// Gᵀ w
HWY_INLINE void weight_gradient_line(const V (&w)[4], V (&g)[3]) {
    const V half = hn::Set(D(), 0.5F), sum = hn::Mul(half, hn::Add(w[1], w[2]));
    g[0] = hn::Add(w[0], sum);
    g[1] = hn::Mul(half, hn::Sub(w[1], w[2]));
    g[2] = hn::Add(sum, w[3]);
}
HWY_INLINE void weight_gradient_line(const V (&w)[6], V (&g)[3]) {
    const D d;
    const V near = hn::Mul(hn::Set(d, -1.0F / 6), hn::Add(w[1], w[2])), far = hn::Add(w[3], w[4]);
    const V quarter = hn::Mul(hn::Set(d, 0.25F), w[0]);
    g[0] = hn::Add(quarter, plus(near, 1.0F / 24, far));
    g[1] = plus(hn::Mul(hn::Set(d, 1.0F / 6), hn::Sub(w[2], w[1])), 1.0F / 12, hn::Sub(w[3], w[4]));
    g[2] = hn::Add(w[5], plus(near, 1.0F / 6, far));
}

template <int M>
void result_gradient_tile(const float* const* pixels, float* to, std::int64_t step) {
    constexpr int n = M + 2;
    const D d;
    for (int lane = 0; lane < 16; lane += lanes) {
        HWY_ALIGN float half[n * M * lanes];
#pragma GCC unroll 4
        for (int j = 0; j < M; ++j) {
            V y[M], t[n];
#pragma GCC unroll 4
            for (int i = 0; i < M; ++i) y[i] = hn::LoadU(d, pixels[i * M + j] + lane);
            result_gradient_line(y, t);
#pragma GCC unroll 6
            for (int i = 0; i < n; ++i) hn::Store(t[i], d, half + (i * M + j) * lanes);
        }
#pragma GCC unroll 6
        for (int i = 0; i < n; ++i) {
            V y[M], t[n];
#pragma GCC unroll 4
            for (int j = 0; j < M; ++j) y[j] = hn::Load(d, half + (i * M + j) * lanes);
            result_gradient_line(y, t);
#pragma GCC unroll 6
            for (int j = 0; j < n; ++j) hn::StoreU(t[j], d, to + (i * n + j) * step + lane);
        }
    }
}

template <int M>
void weight_gradient_block(const float* sums, std::int64_t step, float* taps) {
    constexpr int n = M + 2;
    const D d;
    for (int lane = 0; lane < 16; lane += lanes) {
        V half[3][n];
#pragma GCC unroll 6
        for (int j = 0; j < n; ++j) {
            V w[n], g[3];
#pragma GCC unroll 6
            for (int i = 0; i < n; ++i) w[i] = hn::LoadU(d, sums + (i * n + j) * step + lane);
            weight_gradient_line(w, g);
#pragma GCC unroll 3
            for (int i = 0; i < 3; ++i) half[i][j] = g[i];
        }
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) {
            V g[3];
            weight_gradient_line(half[i], g);
#pragma GCC unroll 3
            for (int j = 0; j < 3; ++j) hn::StoreU(g[j], d, taps + (i * 3 + j) * 16 + lane);
        }
    }
}

template <int M>
void weights_block(const float* taps, float* to, std::int64_t step) {
    constexpr int n = M + 2;
    const D d;
    for (int lane = 0; lane < 16; lane += lanes) {
        V half[n][3];
#pragma GCC unroll 3
        for (int j = 0; j < 3; ++j) {
            V g[3], t[n];
#pragma GCC unroll 3
            for (int i = 0; i < 3; ++i) g[i] = hn::LoadU(d, taps + (i * 3 + j) * 16 + lane);
            weights_line(g, t);
#pragma GCC unroll 6
            for (int i = 0; i < n; ++i) half[i][j] = t[i];
        }
#pragma GCC unroll 6
        for (int i = 0; i < n; ++i) {
            V t[n];
            weights_line(half[i], t);
#pragma GCC unroll 6
            for (int j = 0; j < n; ++j) hn::StoreU(t[j], d, to + (i * n + j) * step + lane);
        }
    }
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
void weights(int m, const float* taps, float* to, std::int64_t step) {
    m == 2 ? weights_block<2>(taps, to, step) : weights_block<4>(taps, to, step);
}
void result_gradient(int m, const float* const* pixels, float* to, std::int64_t step) {
    m == 2 ? result_gradient_tile<2>(pixels, to, step) : result_gradient_tile<4>(pixels, to, step);
}
void weight_gradient(int m, const float* sums, std::int64_t step, float* taps) {
    m == 2 ? weight_gradient_block<2>(sums, step, taps) : weight_gradient_block<4>(sums, step, taps);
}
void result(int m, const WinogradResult& r) { m == 2 ? result_tile<2>(r) : result_tile<4>(r); }

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(source);
HWY_EXPORT(result);
HWY_EXPORT(weights);
HWY_EXPORT(result_gradient);
HWY_EXPORT(weight_gradient);

void winograd_source(int m, const float* const* pixels, float* to, std::int64_t step) {
    HWY_DYNAMIC_DISPATCH(source)(m, pixels, to, step);
}
void winograd_result(int m, const WinogradResult& r) { HWY_DYNAMIC_DISPATCH(result)(m, r); }
void winograd_weights_of_block(int m, const float* taps, float* to, std::int64_t step) {
    HWY_DYNAMIC_DISPATCH(weights)(m, taps, to, step);
}

void winograd_result_gradient(int m, const float* const* pixels, float* to, std::int64_t step) {
    HWY_DYNAMIC_DISPATCH(result_gradient)(m, pixels, to, step);
}
void winograd_weight_gradient(int m, const float* sums, std::int64_t step, float* taps) {
    HWY_DYNAMIC_DISPATCH(weight_gradient)(m, sums, step, taps);
}

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
