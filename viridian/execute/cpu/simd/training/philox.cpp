#include "viridian/execute/cpu/simd/training/philox.hpp"

#include <algorithm>
#include <array>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/training/philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR

// Products of whole words need vectors: the caller draws all groups.
std::int64_t draw_vectors(const PhiloxKey&, const PhiloxCounter&, std::uint32_t, std::uint32_t, std::int64_t,
                          std::uint8_t*) {
    return 0;
}

#else

using Words = hn::ScalableTag<std::uint32_t>;
using WordVector = hn::Vec<Words>;

// The high halves of the products of `a` and `b`.
HWY_INLINE WordVector high_product(WordVector a, WordVector b) {
    const Words d;
    const hn::RepartitionToWide<Words> wide;
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
    const auto upper = hn::Set(wide, 0xFFFFFFFF00000000ULL);
    return hn::BitCast(d, hn::Or(hn::ShiftRight<32>(even), hn::And(odd, upper)));
}

// Draws whole vectors of counters, and returns how many groups of four elements it made.
std::int64_t draw_vectors(const PhiloxKey& key, const PhiloxCounter& counter, std::uint32_t least,
                          std::uint32_t first, std::int64_t groups, std::uint8_t* keep) {
    const Words d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const WordVector m0 = hn::Set(d, philox_multipliers[0]), m1 = hn::Set(d, philox_multipliers[1]);
    const WordVector bound = hn::Set(d, least), one = hn::Set(d, 1);
    const auto kept = [&](WordVector word)
                          HWY_ATTR { return hn::IfThenElseZero(hn::Eq(hn::Max(word, bound), word), one); };
    std::int64_t done = 0;
    for (; done + lanes <= groups; done += lanes) {
        WordVector c0 = hn::Iota(d, first + static_cast<std::uint32_t>(done));
        WordVector c1 = hn::Set(d, counter[1]), c2 = hn::Set(d, counter[2]), c3 = hn::Set(d, counter[3]);
        PhiloxKey k = key;
        for (int round = 0; round < philox_rounds; ++round) {
            const WordVector first_low = hn::Mul(c0, m0), second_low = hn::Mul(c2, m1);
            const WordVector first_high = high_product(c0, m0), second_high = high_product(c2, m1);
            c0 = hn::Xor(hn::Xor(second_high, c1), hn::Set(d, k[0]));
            c1 = second_low;
            c2 = hn::Xor(hn::Xor(first_high, c3), hn::Set(d, k[1]));
            c3 = first_low;
            k[0] += philox_key_steps[0];
            k[1] += philox_key_steps[1];
        }
        const WordVector low = hn::Or(kept(c0), hn::ShiftLeft<8>(kept(c1)));
        const WordVector high = hn::Or(hn::ShiftLeft<16>(kept(c2)), hn::ShiftLeft<24>(kept(c3)));
        const hn::Repartition<std::uint8_t, Words> bytes;
        hn::StoreU(hn::BitCast(bytes, hn::Or(low, high)), bytes, keep + 4 * done);
    }
    return done;
}

#endif

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(draw_vectors);

void draw_words(const PhiloxKey& key, const PhiloxCounter& counter, std::uint64_t least, std::uint32_t first,
                std::int64_t n, std::uint8_t* keep) {
    if (least > 0xFFFFFFFFU) {
        std::fill_n(keep, n, std::uint8_t{0});
        return;
    }
    const auto bound = static_cast<std::uint32_t>(least);
    std::int64_t group = HWY_DYNAMIC_DISPATCH(draw_vectors)(key, counter, bound, first, n / 4, keep);
    for (; 4 * group < n; ++group) {
        const auto words =
            philox4x32({first + static_cast<std::uint32_t>(group), counter[1], counter[2], counter[3]}, key);
        const std::int64_t count = std::min<std::int64_t>(4, n - 4 * group);
        for (std::int64_t i = 0; i < count; ++i)
            keep[4 * group + i] = words[static_cast<std::size_t>(i)] >= bound ? 1 : 0;
    }
}

}  // namespace viridian::execute::cpu::simd
#endif
