#include "viridian/execute/cpu/simd/training/maxima.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/training/maxima.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One element of each of the windows [x, x + lanes of D). With a fixed stride of 2 an element behind the last
// one is read too.
template <int FixedStride, class D>
HWY_INLINE hn::Vec<D> elements(D d, const MaximaRow& w, std::int64_t x, std::int32_t tap,
                               hn::Vec<hn::RebindToSigned<D>> at) {
    if constexpr (FixedStride == 1) return hn::LoadU(d, w.first + tap + x);
    if constexpr (FixedStride == 2) {
        hn::Vec<D> even, odd;
        hn::LoadInterleaved2(d, w.first + tap + 2 * x, even, odd);
        return even;
    }
    return hn::GatherIndex(d, w.first, at);
}

template <int FixedStride, class D>
HWY_INLINE void maxima_at(D d, const MaximaRow& w, std::int64_t x, float* most, std::int32_t* place) {
    const hn::RebindToSigned<D> di;
    const auto start = hn::Set(di, static_cast<std::int32_t>(x * w.stride));
    const auto across =
        hn::Add(start, hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(w.stride))));
    auto best = hn::Add(across, hn::Set(di, w.taps[0]));
    auto value = elements<FixedStride>(d, w, x, w.taps[0], best);
    for (std::int64_t t = 1; t < w.tap_count; ++t) {
        const auto at = hn::Add(across, hn::Set(di, w.taps[t]));
        const auto other = elements<FixedStride>(d, w, x, w.taps[t], at);
        const auto takes = hn::Or(hn::Gt(other, value), hn::IsNaN(other));
        value = hn::IfThenElse(takes, other, value);
        best = hn::IfThenElse(hn::RebindMask(di, takes), at, best);
    }
    hn::StoreU(value, d, most + x);
    hn::StoreU(best, di, place + x);
}

void maxima(const MaximaRow& w, float* most, std::int32_t* place) {
    const hn::CappedTag<float, 16> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    if (w.stride == 1)
        for (; x + lanes <= w.count; x += lanes) maxima_at<1>(d, w, x, most, place);
    if (w.stride == 2)  // the last windows are left to the gathers, which read nothing behind them
        for (; x + lanes < w.count; x += lanes) maxima_at<2>(d, w, x, most, place);
    for (; x + lanes <= w.count; x += lanes) maxima_at<0>(d, w, x, most, place);
    for (; x < w.count; ++x) maxima_at<0>(hn::CappedTag<float, 1>(), w, x, most, place);
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(maxima);

void window_maxima(const MaximaRow& windows, float* most, std::int32_t* place) {
    HWY_DYNAMIC_DISPATCH(maxima)(windows, most, place);
}

}  // namespace viridian::execute::cpu::simd
#endif
