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

struct Product {
    WordVector low, high;
};
// The halves of the products of `a` and `b`, of words without sign.
HWY_INLINE Product product(WordVector a, WordVector b) {
    const Words d;
    const hn::RepartitionToWide<Words> wide;
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
    return {hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even)),
            hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)))};
}

// A vector of counters: ci holds word i of each of them.
struct Counters {
    WordVector c0, c1, c2, c3;

    HWY_INLINE void round(WordVector m0, WordVector m1, WordVector k0, WordVector k1) {
        const Product first = product(c0, m0), second = product(c2, m1);
        c0 = hn::Xor(hn::Xor(second.high, c1), k0);
        c1 = second.low;
        c2 = hn::Xor(hn::Xor(first.high, c3), k1);
        c3 = first.low;
    }

    // Writes 1 for each word that is at least `bound`, in the order of the counters.
    HWY_INLINE void store(WordVector bound, std::uint8_t* keep) const {
        const Words d;
        const WordVector one = hn::Set(d, 1);
        const auto kept = [&](WordVector word) HWY_ATTR {
            return hn::IfThenElseZero(hn::Eq(hn::Max(word, bound), word), one);
        };
        const WordVector low = hn::Or(kept(c0), hn::ShiftLeft<8>(kept(c1)));
        const WordVector high = hn::Or(hn::ShiftLeft<16>(kept(c2)), hn::ShiftLeft<24>(kept(c3)));
        const hn::Repartition<std::uint8_t, Words> bytes;
        hn::StoreU(hn::BitCast(bytes, hn::Or(low, high)), bytes, keep);
    }
};

// Draws whole vectors of counters, two at a time because each round waits for the one before, and returns how
// many groups of four elements it made.
std::int64_t draw_vectors(const PhiloxKey& key, const PhiloxCounter& counter, std::uint32_t least,
                          std::uint32_t first, std::int64_t groups, std::uint8_t* keep) {
    const Words d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const WordVector m0 = hn::Set(d, philox_multipliers[0]), m1 = hn::Set(d, philox_multipliers[1]);
    const WordVector bound = hn::Set(d, least);
    const auto begun = [&](std::int64_t group) HWY_ATTR {
        return Counters{hn::Iota(d, first + static_cast<std::uint32_t>(group)), hn::Set(d, counter[1]),
                        hn::Set(d, counter[2]), hn::Set(d, counter[3])};
    };
    std::int64_t done = 0;
    for (; done + lanes <= groups; done += 2 * lanes) {
        Counters one = begun(done), two = begun(done + lanes);
        PhiloxKey k = key;
        for (int round = 0; round < philox_rounds; ++round) {
            const WordVector k0 = hn::Set(d, k[0]), k1 = hn::Set(d, k[1]);
            one.round(m0, m1, k0, k1);
            two.round(m0, m1, k0, k1);
            k[0] += philox_key_steps[0];
            k[1] += philox_key_steps[1];
        }
        one.store(bound, keep + 4 * done);
        if (done + 2 * lanes > groups) return done + lanes;
        two.store(bound, keep + 4 * (done + lanes));
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
