#include "viridian/execute/cpu/simd/brain.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/brain.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<std::uint32_t>;
using Halves = hn::Rebind<std::uint16_t, Words>;

void widen(const std::uint16_t* from, float* to, std::int64_t n) {
    const Words words;
    const Halves halves;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(words));
    auto* out = reinterpret_cast<std::uint32_t*>(to);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::ShiftLeft<16>(hn::PromoteTo(words, hn::LoadU(halves, from + i))), words, out + i);
    for (; i < n; ++i) out[i] = std::uint32_t{from[i]} << 16U;
}

// Rounds by an addition that carries; a NaN, which it might turn into infinity, becomes a quiet one instead.
void narrow(const float* from, std::uint16_t* to, std::int64_t n) {
    const Words words;
    const Halves halves;
    const hn::RebindToFloat<Words> floats;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(words));
    const auto one = hn::Set(words, 1U), half = hn::Set(words, 0x7fffU), quiet = hn::Set(words, 0x40U);
    const auto round = [&](hn::Vec<decltype(floats)> x) HWY_ATTR {
        const auto bits = hn::BitCast(words, x);
        const auto high = hn::ShiftRight<16>(bits);
        const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, half), hn::And(high, one)));
        const auto nan = hn::RebindMask(words, hn::IsNaN(x));
        return hn::TruncateTo(halves, hn::IfThenElse(nan, hn::Or(high, quiet), rounded));
    };
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(round(hn::LoadU(floats, from + i)), halves, to + i);
    if (i == n) return;
    HWY_ALIGN float rest[hn::MaxLanes(floats)] = {};
    HWY_ALIGN std::uint16_t made[hn::MaxLanes(halves)];
    std::copy(from + i, from + n, rest);
    hn::Store(round(hn::Load(floats, rest)), halves, made);
    std::copy_n(made, n - i, to + i);
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);

void widen(const std::uint16_t* from, float* to, std::int64_t n) { HWY_DYNAMIC_DISPATCH(widen)(from, to, n); }
void narrow(const float* from, std::uint16_t* to, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(narrow)(from, to, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
