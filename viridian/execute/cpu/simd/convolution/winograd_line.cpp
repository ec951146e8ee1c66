#include "viridian/execute/cpu/simd/convolution/winograd_line.hpp"

#include <cmath>
#include <vector>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/convolution/winograd_line.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));

// Σ over every second one from `First` of row[i]·x[i]
template <int First, int N>
HWY_INLINE V half(const float* row, const V (&x)[N]) {
    const D d;
    V sum = hn::Mul(hn::Set(d, row[First]), x[First]);
#pragma GCC unroll 12
    for (int i = First + 2; i < N; i += 2) sum = hn::MulAdd(hn::Set(d, row[i]), x[i], sum);
    return sum;
}

template <int N>
void source_line(const LineTransform& t, const float* const* pixels, float* to, std::int64_t step) {
    constexpr int pairs = (N - 2) / 2;
    const D d;
    for (int lane = 0; lane < 16; lane += lanes) {
        V x[N];
#pragma GCC unroll 12
        for (int i = 0; i < N; ++i) x[i] = hn::LoadU(d, pixels[i] + lane);
        // The product over all ±a is even: the points 0 and infinity see every second source.
        hn::StoreU(half<0>(t.source[0], x), d, to + lane);
        for (int j = 0; j < pairs; ++j) {
            const V even = half<0>(t.source[1 + j], x), odd = half<1>(t.source[1 + j], x);
            hn::StoreU(hn::Add(even, odd), d, to + (1 + 2 * j) * step + lane);
            hn::StoreU(hn::Sub(even, odd), d, to + (2 + 2 * j) * step + lane);
        }
        hn::StoreU(half<1>(t.source[1 + pairs], x), d, to + (N - 1) * step + lane);
    }
}

template <int N, int M>
void result_line(const LineTransform& t, const WinogradResult& r) {
    constexpr int pairs = (N - 2) / 2;
    const D d;
    const V low = hn::Set(d, r.low), high = hn::Set(d, r.high);
    const std::int64_t pixel = r.height > 1 ? r.row : 16;
    const int count = r.height > 1 ? r.height : r.width;
    for (int lane = 0; lane < 16; lane += lanes) {
        const V bias = r.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, r.bias + lane);
        V y[M];
#pragma GCC unroll 6
        for (int k = 0; k < M; ++k) y[k] = bias;
        y[0] = hn::Add(y[0], hn::LoadU(d, r.from + lane));
        y[M - 1] = hn::Add(y[M - 1], hn::LoadU(d, r.from + (N - 1) * r.step + lane));
#pragma GCC unroll 6
        for (int j = 0; j < pairs; ++j) {
            const V plus = hn::LoadU(d, r.from + (1 + 2 * j) * r.step + lane);
            const V minus = hn::LoadU(d, r.from + (2 + 2 * j) * r.step + lane);
            const V sum = hn::Add(plus, minus), difference = hn::Sub(plus, minus);
#pragma GCC unroll 6
            for (int k = 0; k < M; ++k)
                y[k] = hn::MulAdd(hn::Set(d, t.power[j][k]), k % 2 == 0 ? sum : difference, y[k]);
        }
#pragma GCC unroll 6
        for (int k = 0; k < M; ++k) {
            if (k >= count) break;
            const std::int64_t at = k * pixel + lane;
            V v = y[k];
            if (r.add != nullptr) v = hn::Add(v, hn::LoadU(d, r.add + at));
            if (r.clip) v = hn::Min(high, hn::Max(low, v));
            hn::StoreU(v, d, r.to + at);
        }
    }
}

void line_source_any(const LineTransform& t, const float* const* pixels, float* to, std::int64_t step) {
    switch (t.components()) {
        case 6:
            return source_line<6>(t, pixels, to, step);
        case 8:
            return source_line<8>(t, pixels, to, step);
        case 10:
            return source_line<10>(t, pixels, to, step);
        default:
            return source_line<12>(t, pixels, to, step);
    }
}

void line_result_any(const LineTransform& t, const WinogradResult& r) {
    switch (t.components() * 10 + t.m) {
        case 64:
            return result_line<6, 4>(t, r);
        case 84:
            return result_line<8, 4>(t, r);
        case 86:
            return result_line<8, 6>(t, r);
        case 104:
            return result_line<10, 4>(t, r);
        case 106:
            return result_line<10, 6>(t, r);
        default:
            return result_line<12, 6>(t, r);
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(line_source_any);
HWY_EXPORT(line_result_any);

void line_source(const LineTransform& transform, const float* const* pixels, float* to, std::int64_t step) {
    HWY_DYNAMIC_DISPATCH(line_source_any)(transform, pixels, to, step);
}
void line_result(const LineTransform& transform, const WinogradResult& result) {
    HWY_DYNAMIC_DISPATCH(line_result_any)(transform, result);
}

namespace {

// Points whose rounding error is small: tried out in float against double, 192 channels (docs/execute.md).
std::vector<double> positive_points(int pairs) {
    switch (pairs) {
        case 1:
            return {1};
        case 2:
            return {2.0 / 3, 1.5};
        case 3:
            return {1, 0.5, 2};
        case 4:
            return {0.4, 0.8, 1.25, 2.5};
        default:
            return {1, 2.0 / 3, 1.5, 1.0 / 3, 3};
    }
}

// Coefficients of Π (x − root).
std::vector<double> polynomial(const std::vector<double>& roots) {
    std::vector<double> c = {1};
    for (const double root : roots) {
        c.insert(c.begin(), 0);
        for (std::size_t i = 0; i + 1 < c.size(); ++i) c[i] -= root * c[i + 1];
    }
    return c;
}

}  // namespace

LineTransform line_transform(int m, int r) {
    LineTransform t;
    t.m = m, t.r = r;
    const int n = t.components();
    const std::vector<double> positive = positive_points((n - 2) / 2);
    std::vector<double> points = {0};
    for (const double a : positive) points.insert(points.end(), {a, -a});
    const auto row_of = [](std::size_t point) { return (point + 1) / 2; };
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::vector<double> others;
        double scale = 1;  // Π over the others of (a_i − a_j)
        for (std::size_t j = 0; j < points.size(); ++j)
            if (j != i) others.push_back(points[j]), scale *= points[i] - points[j];
        const std::vector<double> row = polynomial(others);
        // A power of two keeps sources and weights of like size.
        double size = 0;
        for (const double c : row) size += std::abs(c);
        const double balance = std::exp2(-std::round(std::log2(size)));
        for (int k = 0; k < r; ++k) t.weights[i][k] = std::pow(points[i], k) / scale / balance;
        if (points[i] < 0) continue;  // its row is the other's, odd columns negated
        for (std::size_t k = 0; k < row.size(); ++k)
            t.source[row_of(i)][k] = static_cast<float>(row[k] * balance);
    }
    const std::vector<double> all = polynomial(points);
    for (std::size_t k = 0; k < all.size(); ++k)
        t.source[positive.size() + 1][k] = static_cast<float>(all[k]);
    t.weights[n - 1][r - 1] = 1;
    for (std::size_t j = 0; j < positive.size(); ++j)
        for (int k = 0; k < m; ++k) t.power[j][k] = static_cast<float>(std::pow(positive[j], k));
    return t;
}

void line_weights(const LineTransform& transform, const float* g, double* components) {
    for (int i = 0; i < transform.components(); ++i) {
        components[i] = 0;
        for (int k = 0; k < transform.r; ++k)
            components[i] += transform.weights[i][k] * static_cast<double>(g[k]);
    }
}

}  // namespace viridian::execute::cpu::simd
#endif
