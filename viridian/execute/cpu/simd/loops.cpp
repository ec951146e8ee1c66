#include "viridian/execute/cpu/simd/loops.hpp"

#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The library's exponential makes 0 of NaN.
V exponential(V x) {
    const D d;
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, hn::Min(hn::Set(d, 89.0F), x)));
}

V sigmoid(V x) {
    const D d;
    const V one = hn::Set(d, 1.0F);
    return hn::Div(one, hn::Add(one, exponential(hn::Neg(x))));
}

// erf(x) ≈ x·P(x²)/Q(x²) on [−4, 4], beyond which it is ±1 in float; fitted by reweighted least squares to a
// relative error of 6.5e-8.
V erf(V x) {
    const D d;
    x = hn::Max(hn::Set(d, -4.0F), hn::Min(hn::Set(d, 4.0F), x));
    const V s = hn::Mul(x, x);
    V p = hn::Set(d, 1.911099945e-08F);
    for (const float c : {-1.942326338e-06F, 1.472880459e-04F, 3.990623782e-03F, 5.152503278e-02F,
                          2.071263774e-01F, 1.128379094F})
        p = hn::MulAdd(p, s, hn::Set(d, c));
    V q = hn::Set(d, 1.021126280e-03F);
    for (const float c : {1.495816880e-02F, 1.179712143e-01F, 5.168922201e-01F, 1.0F})
        q = hn::MulAdd(q, s, hn::Set(d, c));
    return hn::Div(hn::Mul(x, p), q);
}

template <class F>
HWY_INLINE void map(float* to, const float* from, std::int64_t n, const F& f) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, from + i)), d, to + i);
    if (i == n) return;
    HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
    for (std::int64_t j = i; j < n; ++j) rest[j - i] = from[j];
    hn::Store(f(hn::Load(d, rest)), d, rest);
    for (std::int64_t j = i; j < n; ++j) to[j] = rest[j - i];
}

template <class F>
HWY_INLINE void zip(float* to, const float* a, const float* b, std::int64_t n, const F& f) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i);
    if (i == n) return;
    HWY_ALIGN float left[hn::MaxLanes(d)] = {};
    HWY_ALIGN float right[hn::MaxLanes(d)] = {};
    for (std::int64_t j = i; j < n; ++j) left[j - i] = a[j], right[j - i] = b[j];
    hn::Store(f(hn::Load(d, left), hn::Load(d, right)), d, left);
    for (std::int64_t j = i; j < n; ++j) to[j] = left[j - i];
}

void unary(const Step& step, float* to, const float* x, std::int64_t n) {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0F), half = hn::Set(d, 0.5F);
    const V alpha = hn::Set(d, step.alpha), beta = hn::Set(d, step.beta);
    // max(constant, x), not max(x, constant): x86 returns the second where one is NaN.
    switch (step.function) {
        case Function::relu:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Max(zero, v); });
        case Function::leaky_relu:
            return map(to, x, n,
                       [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(alpha, v), v); });
        case Function::clip:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Min(beta, hn::Max(alpha, v)); });
        case Function::sigmoid:
            return map(to, x, n, [&](V v) HWY_ATTR { return sigmoid(v); });
        case Function::tanh:
            return map(to, x, n,
                       [&](V v) HWY_ATTR { return hn::IfThenElse(hn::IsNaN(v), v, hn::Tanh(d, v)); });
        case Function::elu:
            return map(to, x, n, [&](V v) HWY_ATTR {
                return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(alpha, hn::Expm1(d, hn::Min(zero, v))), v);
            });
        case Function::gelu_erf:
            return map(to, x, n, [&](V v) HWY_ATTR {
                const V half_x = hn::Mul(v, half);
                return hn::MulAdd(half_x, erf(hn::Mul(v, hn::Set(d, 0.70710678F))), half_x);
            });
        case Function::gelu_tanh:
            return map(to, x, n, [&](V v) HWY_ATTR {  // (1 + tanh z) / 2 is the sigmoid of 2z
                const V cube = hn::Mul(hn::Mul(v, v), v);
                const V z = hn::Mul(hn::Set(d, 1.5957691F), hn::MulAdd(hn::Set(d, 0.044715F), cube, v));
                return hn::Mul(v, sigmoid(z));
            });
        case Function::hard_sigmoid:
            return map(to, x, n,
                       [&](V v) HWY_ATTR { return hn::Min(one, hn::Max(zero, hn::MulAdd(alpha, v, beta))); });
        case Function::hard_swish:
            return map(to, x, n, [&](V v) HWY_ATTR {
                return hn::Mul(v, hn::Min(one, hn::Max(zero, hn::MulAdd(v, hn::Set(d, 1.0F / 6), half))));
            });
        case Function::softplus:
            return map(to, x, n, [&](V v) HWY_ATTR {
                const V tail = hn::Log1p(d, exponential(hn::Neg(hn::Abs(v))));
                return hn::Add(hn::Max(zero, v), tail);
            });
        case Function::exp:
            return map(to, x, n, [&](V v) HWY_ATTR { return exponential(v); });
        case Function::log:
            return map(to, x, n, [&](V v) HWY_ATTR {
                const V infinity = hn::Inf(d);
                V y = hn::IfThenElse(hn::Eq(v, zero), hn::Neg(infinity), hn::Log(d, v));
                y = hn::IfThenElse(hn::Lt(v, zero), hn::NaN(d), y);
                return hn::IfThenElse(hn::Or(hn::IsNaN(v), hn::Eq(v, infinity)), v, y);
            });
        case Function::sqrt:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Sqrt(v); });
        case Function::erf:
            return map(to, x, n, [&](V v) HWY_ATTR { return erf(v); });
        case Function::abs:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Abs(v); });
        case Function::neg:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Neg(v); });
        case Function::reciprocal:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Div(one, v); });
        case Function::square:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Mul(v, v); });
        default:
            return;
    }
}

void binary(const Step& step, float* to, const float* a, const float* b, std::int64_t n) {
    if (step.reversed) std::swap(a, b);
    switch (step.function) {
        case Function::add:
            return zip(to, a, b, n, [](V x, V y) HWY_ATTR { return hn::Add(x, y); });
        case Function::sub:
            return zip(to, a, b, n, [](V x, V y) HWY_ATTR { return hn::Sub(x, y); });
        case Function::mul:
            return zip(to, a, b, n, [](V x, V y) HWY_ATTR { return hn::Mul(x, y); });
        case Function::div:
            return zip(to, a, b, n, [](V x, V y) HWY_ATTR { return hn::Div(x, y); });
        case Function::min:
            return zip(to, a, b, n,
                       [](V x, V y) HWY_ATTR { return hn::IfThenElse(hn::IsNaN(x), x, hn::Min(x, y)); });
        case Function::max:
            return zip(to, a, b, n,
                       [](V x, V y) HWY_ATTR { return hn::IfThenElse(hn::IsNaN(x), x, hn::Max(x, y)); });
        default:
            return;
    }
}

template <class F>
HWY_INLINE V fold(const float* x, std::int64_t n, V start, const F& f, float neutral) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    V a = start;
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) a = f(a, hn::LoadU(d, x + i));
    if (i < n) {
        HWY_ALIGN float rest[hn::MaxLanes(d)];
        for (std::int64_t j = 0; j < lanes; ++j) rest[j] = i + j < n ? x[i + j] : neutral;
        a = f(a, hn::Load(d, rest));
    }
    return a;
}

float greatest(const float* x, std::int64_t n) {
    const D d;
    const float low = -std::numeric_limits<float>::infinity();
    return hn::GetLane(
        hn::MaxOfLanes(d, fold(x, n, hn::Set(d, low), [](V a, V v) HWY_ATTR { return hn::Max(a, v); }, low)));
}

float sum(const float* x, std::int64_t n) {
    const D d;
    return hn::GetLane(
        hn::SumOfLanes(d, fold(x, n, hn::Zero(d), [](V a, V v) HWY_ATTR { return hn::Add(a, v); }, 0)));
}

void softmax(float* x, std::int64_t n) {
    const D d;
    const V shift = hn::Set(d, greatest(x, n));
    map(x, x, n, [&](V v) HWY_ATTR { return exponential(hn::Sub(v, shift)); });
    const V scale = hn::Set(d, 1.0F / sum(x, n));
    map(x, x, n, [&](V v) HWY_ATTR { return hn::Mul(v, scale); });
}

void log_softmax(float* x, std::int64_t n) {
    const D d;
    const V shift = hn::Set(d, greatest(x, n));
    map(x, x, n, [&](V v) HWY_ATTR { return hn::Sub(v, shift); });
    const V total = fold(
        x, n, hn::Zero(d), [](V a, V v) HWY_ATTR { return hn::Add(a, exponential(v)); },
        -std::numeric_limits<float>::infinity());
    const V log = hn::Set(d, std::log(hn::GetLane(hn::SumOfLanes(d, total))));
    map(x, x, n, [&](V v) HWY_ATTR { return hn::Sub(v, log); });
}

void layer_norm(float* x, const float* scale, const float* shift, float epsilon, std::int64_t n) {
    const D d;
    const V mean = hn::Set(d, sum(x, n) / static_cast<float>(n));
    map(x, x, n, [&](V v) HWY_ATTR { return hn::Sub(v, mean); });
    const V squares = fold(x, n, hn::Zero(d), [](V a, V v) HWY_ATTR { return hn::MulAdd(v, v, a); }, 0);
    const float variance = hn::GetLane(hn::SumOfLanes(d, squares)) / static_cast<float>(n);
    const V factor = hn::Set(d, 1.0F / std::sqrt(variance + epsilon));
    zip(x, x, scale, n, [&](V v, V s) HWY_ATTR { return hn::Mul(hn::Mul(v, factor), s); });
    if (shift != nullptr) zip(x, x, shift, n, [](V v, V s) HWY_ATTR { return hn::Add(v, s); });
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(unary);
HWY_EXPORT(binary);
HWY_EXPORT(softmax);
HWY_EXPORT(log_softmax);
HWY_EXPORT(layer_norm);

void apply(const Step& step, float* x, std::int64_t n) { HWY_DYNAMIC_DISPATCH(unary)(step, x, x, n); }
void apply(const Step& step, float* x, const float* operand, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(binary)(step, x, x, operand, n);
}
void apply(const Step& step, float* to, const float* from, const float* operand, std::int64_t n) {
    if (is_binary(step.function))
        HWY_DYNAMIC_DISPATCH(binary)(step, to, from, operand, n);
    else
        HWY_DYNAMIC_DISPATCH(unary)(step, to, from, n);
}
void softmax_row(float* x, std::int64_t n) { HWY_DYNAMIC_DISPATCH(softmax)(x, n); }
void log_softmax_row(float* x, std::int64_t n) { HWY_DYNAMIC_DISPATCH(log_softmax)(x, n); }
void layer_norm_row(float* x, const float* scale, const float* shift, float epsilon, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(layer_norm)(x, scale, shift, epsilon, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
