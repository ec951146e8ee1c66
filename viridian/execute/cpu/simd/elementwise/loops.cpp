#include "viridian/execute/cpu/simd/elementwise/loops.hpp"

#include <cmath>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

#include "viridian/execute/cpu/simd/elementwise/exponential-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The library's exponential makes 0 of NaN.
HWY_INLINE V exponential(V x) {
    const D d;
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, hn::Min(hn::Set(d, 89.0F), x)));
}

// e^x for x in [−88, 88], to which it is cut; NaN stays. 2^n·e^r with |r| ≤ ln 2 / 2; the coefficients are
// those of Cephes' expf.
HWY_INLINE V bounded_exponential(V x) {
    const D d;
    x = hn::Min(hn::Set(d, 88.0F), hn::Max(hn::Set(d, -88.0F), x));
    const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
    const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x));
    // Pairs, then pairs of pairs: a chain half as long as Horner's.
    const auto pair = [&](float odd, float even)
                          HWY_ATTR { return hn::MulAdd(r, hn::Set(d, odd), hn::Set(d, even)); };
    const V square = hn::Mul(r, r);
    const V low = hn::MulAdd(pair(1.6666665459e-1F, 5.0000001201e-1F), square, pair(1.0F, 1.0F));
    const V high = hn::MulAdd(pair(1.9875691500e-4F, 1.3981999507e-3F), square,
                              pair(8.3334519073e-3F, 4.1665795894e-2F));
    const V p = hn::MulAdd(high, hn::Mul(square, square), low);
    const hn::RebindToSigned<D> whole;
    return hn::BitCast(d, hn::Add(hn::BitCast(whole, p), hn::ShiftLeft<23>(hn::ConvertTo(whole, n))));
}

HWY_INLINE V sigmoid(V x) {
    const D d;
    const V one = hn::Set(d, 1.0F);
    const V y = hn::Div(one, hn::Add(one, bounded_exponential(hn::Neg(x))));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -88.0F)), y);
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

// f where the vector functions are trusted, |x| ≤ `limit`; the C library's elsewhere and for NaN.
template <class F>
HWY_INLINE void careful(float* to, const float* from, std::int64_t n, float limit, float (*exact)(float),
                        const F& f) {
    const D d;
    map(to, from, n, [&](V v) HWY_ATTR {
        const auto fine = hn::Le(hn::Abs(v), hn::Set(d, limit));
        const V y = f(hn::IfThenElseZero(fine, v));
        if (hn::AllTrue(d, fine)) return y;
        HWY_ALIGN float lanes[hn::MaxLanes(d)];
        hn::Store(v, d, lanes);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = exact(lanes[i]);
        return hn::IfThenElse(fine, y, hn::Load(d, lanes));
    });
}

// Beyond the limits given here the vector functions lose digits.
void trigonometric(const EpilogueStep& step, float* to, const float* x, std::int64_t n) {
    const D d;
    const V one = hn::Set(d, 1.0F), half = hn::Set(d, 0.5F);
    switch (step.function) {
        case Function::sin:
            return careful(to, x, n, 30000, std::sin, [&](V v) HWY_ATTR { return hn::Sin(d, v); });
        case Function::cos:
            return careful(to, x, n, 30000, std::cos, [&](V v) HWY_ATTR { return hn::Cos(d, v); });
        case Function::tan:
            return careful(to, x, n, 1.5F, std::tan,
                           [&](V v) HWY_ATTR { return hn::Div(hn::Sin(d, v), hn::Cos(d, v)); });
        case Function::asin:
            return careful(to, x, n, 1, std::asin, [&](V v) HWY_ATTR { return hn::Asin(d, v); });
        case Function::acos:
            return careful(to, x, n, 1, std::acos, [&](V v) HWY_ATTR { return hn::Acos(d, v); });
        case Function::atan:
            return careful(to, x, n, 1e30F, std::atan, [&](V v) HWY_ATTR { return hn::Atan(d, v); });
        case Function::sinh:
            return careful(to, x, n, 80, std::sinh, [&](V v) HWY_ATTR { return hn::Sinh(d, v); });
        case Function::cosh:
            return careful(to, x, n, 80, std::cosh, [&](V v) HWY_ATTR {
                const V e = hn::Exp(d, hn::Abs(v));
                return hn::Mul(half, hn::Add(e, hn::Div(one, e)));
            });
        case Function::asinh:
            return careful(to, x, n, 1e9F, std::asinh, [&](V v) HWY_ATTR { return hn::Asinh(d, v); });
        case Function::acosh:
            return careful(to, x, n, 1e9F, std::acosh, [&](V v) HWY_ATTR {
                return hn::IfThenElse(hn::Lt(v, one), hn::NaN(d), hn::Acosh(d, hn::Max(one, v)));
            });
        case Function::atanh:
            return careful(to, x, n, 0.9999F, std::atanh, [&](V v) HWY_ATTR { return hn::Atanh(d, v); });
        default:
            return;
    }
}

void elementary(const EpilogueStep& step, float* to, const float* x, std::int64_t n) {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0F);
    switch (step.function) {
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
        case Function::sign:
            return map(to, x, n, [&](V v) HWY_ATTR {  // zeroes and NaN stay
                const V unit = hn::CopySign(one, v);
                return hn::IfThenElse(hn::Or(hn::Eq(v, zero), hn::IsNaN(v)), v, unit);
            });
        case Function::floor:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Floor(v); });
        case Function::ceil:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Ceil(v); });
        case Function::round:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Round(v); });
        default:
            return trigonometric(step, to, x, n);
    }
}

void unary(const EpilogueStep& step, float* to, const float* x, std::int64_t n) {
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
        case Function::thresholded_relu:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, alpha), v); });
        case Function::selu:
            return map(to, x, n, [&](V v) HWY_ATTR {
                const V low = hn::Mul(alpha, hn::Expm1(d, hn::Min(zero, v)));
                return hn::Mul(beta, hn::IfThenElse(hn::Lt(v, zero), low, v));
            });
        case Function::celu:
            return map(to, x, n, [&](V v) HWY_ATTR {
                const V low = hn::Mul(alpha, hn::Expm1(d, hn::Min(zero, hn::Div(v, alpha))));
                return hn::Add(hn::Max(zero, v), hn::Min(zero, low));
            });
        case Function::shrink:
            return map(to, x, n, [&](V v) HWY_ATTR {
                const V high = hn::IfThenElseZero(hn::Gt(v, alpha), hn::Sub(v, beta));
                return hn::IfThenElse(hn::Lt(v, hn::Neg(alpha)), hn::Add(v, beta), high);
            });
        case Function::softsign:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Div(v, hn::Add(one, hn::Abs(v))); });
        case Function::swish:
            return map(to, x, n, [&](V v) HWY_ATTR { return hn::Mul(v, sigmoid(hn::Mul(alpha, v))); });
        case Function::mish:
            return careful(
                to, x, n, 1e30F, [](float v) { return v * std::tanh(std::log1p(std::exp(v))); },
                [&](V v) HWY_ATTR {  // with u = e^x: tanh log(1 + u) = (u² + 2u) / (u² + 2u + 2)
                    const V u = hn::Exp(d, hn::Min(hn::Set(d, 20.0F), v));
                    const V part = hn::MulAdd(u, u, hn::Add(u, u));
                    return hn::Mul(v, hn::Div(part, hn::Add(part, hn::Set(d, 2.0F))));
                });
        default:
            return elementary(step, to, x, n);
    }
}

// Returns the vectors term(v) of x joined in four chains, so that joins need not wait for each other. Lanes
// behind the row hold `neutral`, and chains begin with `start`.
template <class Term, class Join>
HWY_INLINE V fold(const float* x, std::int64_t n, float neutral, V start, const Term& term,
                  const Join& join) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    V a = start, b = start, c = start, e = start;
    std::int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        a = join(a, term(hn::LoadU(d, x + i)));
        b = join(b, term(hn::LoadU(d, x + i + lanes)));
        c = join(c, term(hn::LoadU(d, x + i + 2 * lanes)));
        e = join(e, term(hn::LoadU(d, x + i + 3 * lanes)));
    }
    for (; i + lanes <= n; i += lanes) a = join(a, term(hn::LoadU(d, x + i)));
    if (i < n) {
        HWY_ALIGN float rest[hn::MaxLanes(d)];
        for (std::int64_t j = 0; j < lanes; ++j) rest[j] = i + j < n ? x[i + j] : neutral;
        b = join(b, term(hn::Load(d, rest)));
    }
    return join(join(a, b), join(c, e));
}

constexpr float lowest = -std::numeric_limits<float>::infinity();

float greatest(const float* x, std::int64_t n) {
    const D d;
    const V most = fold(
        x, n, lowest, hn::Set(d, lowest), [](V v) HWY_ATTR { return v; },
        [](V a, V v) HWY_ATTR { return hn::Max(a, v); });
    return hn::GetLane(hn::MaxOfLanes(d, most));
}

float sum(const float* x, std::int64_t n) {
    const D d;
    const V total = fold(
        x, n, 0, hn::Zero(d), [](V v) HWY_ATTR { return v; },
        [](V a, V v) HWY_ATTR { return hn::Add(a, v); });
    return hn::GetLane(hn::SumOfLanes(d, total));
}

void softmax(float* to, const float* x, std::int64_t n) {
    const D d;
    const V shift = hn::Set(d, greatest(x, n));
    map(to, x, n, [&](V v) HWY_ATTR { return decaying_exponential(d, hn::Sub(v, shift)); });
    const V scale = hn::Set(d, 1.0F / sum(to, n));
    map(to, to, n, [&](V v) HWY_ATTR { return hn::Mul(v, scale); });
}

void log_softmax(float* to, const float* x, std::int64_t n) {
    const D d;
    const V shift = hn::Set(d, greatest(x, n));
    const V total = fold(
        x, n, lowest, hn::Zero(d), [&](V v) HWY_ATTR { return decaying_exponential(d, hn::Sub(v, shift)); },
        [](V a, V v) HWY_ATTR { return hn::Add(a, v); });
    const V log = hn::Set(d, std::log(hn::GetLane(hn::SumOfLanes(d, total))));
    map(to, x, n, [&](V v) HWY_ATTR { return hn::Sub(hn::Sub(v, shift), log); });
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(unary);
HWY_EXPORT(softmax);
HWY_EXPORT(log_softmax);

void apply(const EpilogueStep& step, float* to, const float* from, const float* operand, std::int64_t n) {
    if (is_binary(step.function))
        apply_operand(step, to, from, operand, n);
    else
        HWY_DYNAMIC_DISPATCH(unary)(step, to, from, n);
}
void softmax_row(float* to, const float* x, std::int64_t n) { HWY_DYNAMIC_DISPATCH(softmax)(to, x, n); }
void log_softmax_row(float* to, const float* x, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(log_softmax)(to, x, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
