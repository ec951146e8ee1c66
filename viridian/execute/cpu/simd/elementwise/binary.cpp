#include "viridian/execute/cpu/simd/elementwise/loops.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/binary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// An operand of zip(): the elements of an array, or one number.
struct Elements {
    const float* at;
    [[nodiscard]] HWY_INLINE V load(std::int64_t i) const { return hn::LoadU(D(), at + i); }
    [[nodiscard]] float element(std::int64_t i) const { return at[i]; }
};
struct Number {
    float value;
    [[nodiscard]] HWY_INLINE V load(std::int64_t) const { return hn::Set(D(), value); }
    [[nodiscard]] float element(std::int64_t) const { return value; }
};

template <class A, class B, class F>
HWY_INLINE void zip(float* to, const A& a, const B& b, std::int64_t n, const F& f) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(a.load(i), b.load(i)), d, to + i);
    if (i == n) return;
    HWY_ALIGN float left[hn::MaxLanes(d)] = {};
    HWY_ALIGN float right[hn::MaxLanes(d)] = {};
    for (std::int64_t j = i; j < n; ++j) left[j - i] = a.element(j), right[j - i] = b.element(j);
    hn::Store(f(hn::Load(d, left), hn::Load(d, right)), d, left);
    for (std::int64_t j = i; j < n; ++j) to[j] = left[j - i];
}

template <class A, class B>
void binary_of(const EpilogueStep& step, float* to, const A& a, const B& b, std::int64_t n) {
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
        case Function::relu_gradient:
            return zip(to, a, b, n,
                       [](V x, V y) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(y, hn::Zero(D())), x); });
        case Function::clip_gradient: {
            const V low = hn::Set(D(), step.alpha), high = hn::Set(D(), step.beta);
            return zip(to, a, b, n, [=](V x, V y) HWY_ATTR {
                return hn::IfThenElseZero(hn::And(hn::Ge(y, low), hn::Le(y, high)), x);
            });
        }
        default:
            return;
    }
}

void binary(const EpilogueStep& step, float* to, const float* from, const float* operand, std::int64_t n) {
    step.reversed ? binary_of(step, to, Elements{operand}, Elements{from}, n)
                  : binary_of(step, to, Elements{from}, Elements{operand}, n);
}

void binary_number(const EpilogueStep& step, float* to, const float* from, float number, std::int64_t n) {
    step.reversed ? binary_of(step, to, Number{number}, Elements{from}, n)
                  : binary_of(step, to, Elements{from}, Number{number}, n);
}

// A product that the compiler does not join with the addition after it, as GCC would; clang does so only
// within an expression.
HWY_INLINE V rounded_product(V a, V b) {
    V product = hn::Mul(a, b);
#if HWY_COMPILER_GCC_ACTUAL
    asm("" : "+x"(product.raw));
#endif
    return product;
}

void combined(float* to, float a, const float* x, float b, const float* z, std::int64_t n) {
    const V left = hn::Set(D(), a), right = hn::Set(D(), b);
    zip(to, Elements{x}, Elements{z}, n,
        [=](V v, V w) HWY_ATTR { return hn::Add(rounded_product(left, v), rounded_product(right, w)); });
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(binary);
HWY_EXPORT(binary_number);
HWY_EXPORT(combined);

void apply_operand(const EpilogueStep& step, float* to, const float* from, const float* operand,
                   std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(binary)(step, to, from, operand, n);
}
void apply_number(const EpilogueStep& step, float* to, const float* from, float number, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(binary_number)(step, to, from, number, n);
}
void combine(float* to, float a, const float* x, float b, const float* z, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(combined)(to, a, x, b, z, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
