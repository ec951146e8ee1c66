#include "viridian/execute/cpu/simd/convolution/strassen.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/convolution/strassen.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

bool rows(const float* upper, const float* lower, std::int64_t count, float* to, std::int64_t source,
          std::int64_t block_step) {
    const D d;
    const V limit = hn::Set(d, strassen_limit);
    auto ordinary = hn::Eq(limit, limit);
    V largest_above = hn::Zero(d), largest_below = hn::Zero(d);
    const auto look = [&](V v, V& largest) {
        const V magnitude = hn::Abs(v);
        ordinary = hn::And(ordinary, hn::Lt(magnitude, limit));  // not so for NaN, which Max may drop
        largest = hn::Max(largest, magnitude);
    };
    for (std::int64_t i = 0; i < count; i += lanes) {
        float* at = to + i / 16 * block_step + i % 16;
        const V a11 = hn::LoadU(d, upper + i), a12 = hn::LoadU(d, upper + count + i);
        const V a21 = hn::LoadU(d, lower + i), a22 = hn::LoadU(d, lower + count + i);
        for (const V v : {a11, a12}) look(v, largest_above);
        for (const V v : {a21, a22}) look(v, largest_below);
        const V s1 = hn::Add(a21, a22);
        const V s2 = hn::Sub(s1, a11);
        hn::StoreU(a11, d, at);
        hn::StoreU(a12, d, at + source);
        hn::StoreU(hn::Sub(a12, s2), d, at + 2 * source);
        hn::StoreU(a22, d, at + 3 * source);
        hn::StoreU(s1, d, at + 4 * source);
        hn::StoreU(s2, d, at + 5 * source);
        hn::StoreU(hn::Sub(a11, a21), d, at + 6 * source);
    }
    const float above = hn::GetLane(hn::MaxOfLanes(d, largest_above));
    const float below = hn::GetLane(hn::MaxOfLanes(d, largest_below));
    return hn::AllTrue(d, ordinary) && above <= strassen_spread * below && below <= strassen_spread * above;
}

void sum(const StrassenSum& s) {
    const D d;
    const V low = hn::Set(d, s.low), high = hn::Set(d, s.high);
    for (std::int64_t r = 0; r < s.rows; ++r)
        for (std::int64_t i = 0; i < s.width; i += lanes) {
            const std::int64_t from = r * s.width + i, to = r * s.result_row + i;
            V v = hn::LoadU(d, s.a + from);
            if (s.b != nullptr) v = hn::Add(v, hn::LoadU(d, s.b + from));
            if (s.c != nullptr) v = hn::Add(v, hn::LoadU(d, s.c + from));
            if (s.before != nullptr) v = hn::Add(v, hn::LoadU(d, s.before + to));
            if (s.bias != nullptr) v = hn::Add(v, hn::LoadU(d, s.bias + i));
            if (s.clip) v = hn::Min(high, hn::Max(low, v));
            hn::StoreU(v, d, s.result + to);
        }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(rows);
HWY_EXPORT(sum);

bool strassen_rows(const float* upper, const float* lower, std::int64_t count, float* to, std::int64_t source,
                   std::int64_t block_step) {
    return HWY_DYNAMIC_DISPATCH(rows)(upper, lower, count, to, source, block_step);
}
void strassen_sum(const StrassenSum& s) { HWY_DYNAMIC_DISPATCH(sum)(s); }

}  // namespace viridian::execute::cpu::simd
#endif
