// The exponential of softmax, in kernels of rows and in attention, for each instruction set.
#if defined(VIRIDIAN_EXPONENTIAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VIRIDIAN_EXPONENTIAL_INL
#undef VIRIDIAN_EXPONENTIAL_INL
#else
#define VIRIDIAN_EXPONENTIAL_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

// Returns e^x for x ≤ 0, which is exactly 0 below about −87.7. NaN stays NaN, because the maximum of x86
// returns its second operand if one is NaN. It is 2^n·2^r with |r| ≤ 1/2: adding `magic` leaves n + 127 in
// the low bits. The polynomial is fitted to a relative error of 1e-7. Rounding of r adds up to 1.2e-6, or
// more without fused multiply-adds.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> decaying_exponential(D d, hwy::HWY_NAMESPACE::Vec<D> x) {
    namespace hn = hwy::HWY_NAMESPACE;
    using V = hn::Vec<D>;
    const hn::RebindToUnsigned<D> bits;
    const V magic = hn::Set(d, 12582912.0F + 127.0F), of_two = hn::Set(d, 1.44269504F);
    const V y = hn::Max(hn::Set(d, -88.02969F), x);  // makes n at least -127
    const V shifted = hn::MulAdd(y, of_two, magic);
    const V r = hn::MulSub(y, of_two, hn::Sub(shifted, magic));
    V p = hn::Set(d, 1.3264727e-3F);
    for (const float c : {9.671513e-3F, 5.5507336e-2F, 2.4022242e-1F, 6.93147e-1F, 1.0F})
        p = hn::MulAdd(p, r, hn::Set(d, c));
    return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
