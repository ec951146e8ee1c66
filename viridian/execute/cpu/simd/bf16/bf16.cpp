#include "viridian/execute/cpu/simd/bf16/bf16.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/bf16/bf16.cpp"
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

using Floats = hn::RebindToFloat<Words>;

// In the low half of each word. Rounds by an addition that carries; a NaN, which it might turn into infinity,
// becomes a quiet one instead.
HWY_INLINE hn::Vec<Words> rounded(hn::Vec<Floats> x) {
    const Words words;
    const auto bits = hn::BitCast(words, x);
    const auto high = hn::ShiftRight<16>(bits);
    const auto carried = hn::Add(hn::Add(bits, hn::Set(words, 0x7fffU)), hn::And(high, hn::Set(words, 1U)));
    const auto nan = hn::RebindMask(words, hn::IsNaN(x));
    return hn::IfThenElse(nan, hn::Or(high, hn::Set(words, 0x40U)), hn::ShiftRight<16>(carried));
}

void narrow(const float* from, std::uint16_t* to, std::int64_t n) {
    const Words words;
    const Halves halves;
    const Floats floats;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(words));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::TruncateTo(halves, rounded(hn::LoadU(floats, from + i))), halves, to + i);
    if (i == n) return;
    HWY_ALIGN float rest[hn::MaxLanes(floats)] = {};
    HWY_ALIGN std::uint16_t made[hn::MaxLanes(halves)];
    std::copy(from + i, from + n, rest);
    hn::Store(hn::TruncateTo(halves, rounded(hn::Load(floats, rest))), halves, made);
    std::copy_n(made, n - i, to + i);
}

void round_rows(float* x, std::int64_t rows, std::int64_t blocks) {
    constexpr std::int64_t width = 16;
    const hn::CappedTag<float, width> floats;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(floats));
    const auto share = hn::Set(floats, largest_carry);
    for (std::int64_t at = 0; at < rows * width; at += lanes) {
        auto lost = hn::Zero(floats);
        for (std::int64_t b = 0; b < blocks; ++b) {
            float* const here = x + b * rows * width + at;
            const auto given = hn::LoadU(floats, here);
            const auto most = hn::Mul(hn::Abs(given), share);
            const auto carried = hn::Max(hn::Neg(most), hn::Min(most, lost));
            const auto kept = hn::BitCast(floats, hn::ShiftLeft<16>(rounded(hn::Add(given, carried))));
            const auto rest = hn::Add(hn::Sub(given, kept), lost);
            const auto is_finite = hn::Eq(hn::Sub(rest, rest), hn::Zero(floats));
            lost = hn::IfThenElse(is_finite, rest, lost);
            hn::StoreU(kept, floats, here);
        }
    }
}

void narrow_planes(const float* from, std::int64_t planes, std::int64_t plane, std::uint16_t* to,
                   std::int64_t n) {
    const Words words;
    const Floats floats;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(words));
    const auto pixels = [&](const float* at, std::int64_t apart, std::uint32_t* out) HWY_ATTR {
        const auto channel = [&](std::int64_t c) HWY_ATTR {
            return c < planes ? rounded(hn::LoadU(floats, at + c * apart)) : hn::Zero(words);
        };
        hn::StoreInterleaved2(hn::Or(channel(0), hn::ShiftLeft<16>(channel(1))),
                              hn::Or(channel(2), hn::ShiftLeft<16>(channel(3))), words, out);
    };
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) pixels(from + i, plane, reinterpret_cast<std::uint32_t*>(to) + 2 * i);
    if (i == n) return;
    HWY_ALIGN float rest[4 * hn::MaxLanes(floats)] = {};
    HWY_ALIGN std::uint32_t made[2 * hn::MaxLanes(words)];
    for (std::int64_t c = 0; c < planes; ++c)
        std::copy(from + c * plane + i, from + c * plane + n, rest + c * lanes);
    pixels(rest, lanes, made);
    std::copy_n(reinterpret_cast<const std::uint16_t*>(made), 4 * (n - i), to + 4 * i);
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);
HWY_EXPORT(round_rows);
HWY_EXPORT(narrow_planes);

void widen(const std::uint16_t* from, float* to, std::int64_t n) { HWY_DYNAMIC_DISPATCH(widen)(from, to, n); }
void narrow(const float* from, std::uint16_t* to, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(narrow)(from, to, n);
}
void round_rows(float* x, std::int64_t rows, std::int64_t blocks) {
    HWY_DYNAMIC_DISPATCH(round_rows)(x, rows, blocks);
}
void narrow_planes(const float* from, std::int64_t planes, std::int64_t plane, std::uint16_t* to,
                   std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(narrow_planes)(from, planes, plane, to, n);
}

}  // namespace viridian::execute::cpu::simd
#endif
