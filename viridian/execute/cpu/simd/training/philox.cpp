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

// Moves words 2i + 1, such as the high halves of products, to where the next round reads them.
HWY_INLINE WordVector high(WordVector words) {
    const hn::RepartitionToWide<Words> wide;
    return hn::BitCast(Words(), hn::ShiftRight<32>(hn::BitCast(wide, words)));
}
// The product of word 2i of `a` with that of `b`: its low half becomes word 2i, its high half word 2i + 1.
HWY_INLINE WordVector product(WordVector a, WordVector b) { return hn::BitCast(Words(), hn::MulEven(a, b)); }

// A Shared holds what all counters of a draw share. They differ in word 0 alone, so half of the first two
// rounds is the same for all of them. A word is combined with its `into` by exclusive or.
struct Shared {
    std::uint32_t first_into2;                  // in the first round
    std::uint32_t into0, into2, word3;          // in the second round, and word 3 after it
    std::array<PhiloxKey, philox_rounds> keys;  // of each round

    Shared(PhiloxKey key, const PhiloxCounter& counter) {
        for (PhiloxKey& k : keys) {
            k = key;
            key[0] += philox_key_steps[0];
            key[1] += philox_key_steps[1];
        }
        const std::uint64_t from2 = std::uint64_t{philox_multipliers[1]} * counter[2];
        const std::uint32_t word0 = high_half(from2) ^ counter[1] ^ keys[0][0];
        first_into2 = counter[3] ^ keys[0][1];
        const std::uint64_t from0 = std::uint64_t{philox_multipliers[0]} * word0;
        into0 = static_cast<std::uint32_t>(from2) ^ keys[1][0];
        into2 = high_half(from0) ^ keys[1][1];
        word3 = static_cast<std::uint32_t>(from0);
    }

    static std::uint32_t high_half(std::uint64_t product) {
        return static_cast<std::uint32_t>(product >> 32U);
    }
};

// Half of a vector of counters: the words 2i of c0 to c3 are those of a counter, and the others are
// unspecified.
struct Half {
    WordVector c0, c1, c2, c3;

    // The counters whose word 0 is in the words 2i of `groups`, after two rounds.
    HWY_INLINE Half(WordVector groups, const Shared& shared, WordVector m0, WordVector m1) {
        const Words d;
        const WordVector made = product(groups, m0);
        const WordVector word2 = hn::Xor(high(made), hn::Set(d, shared.first_into2));
        const WordVector more = product(word2, m1);
        c0 = hn::Xor(high(more), hn::Set(d, shared.into0));
        c1 = more;
        c2 = hn::Xor(made, hn::Set(d, shared.into2));
        c3 = hn::Set(d, shared.word3);
    }

    HWY_INLINE void round(WordVector m0, WordVector m1, WordVector k0, WordVector k1) {
        const WordVector from0 = product(c0, m0), from2 = product(c2, m1);
        c0 = hn::Xor(high(from2), hn::Xor(c1, k0));
        c1 = from2;
        c2 = hn::Xor(high(from0), hn::Xor(c3, k1));
        c3 = from0;
    }

    // The four bytes of each word 2i say which words of the counter are at least `bound`.
    [[nodiscard]] HWY_INLINE WordVector kept(WordVector bound) const {
        const Words d;
        const auto keeps = [&](WordVector word, std::uint32_t one) HWY_ATTR {
            return hn::IfThenElseZero(hn::Eq(hn::Max(word, bound), word), hn::Set(d, one));
        };
        return hn::Or(hn::Or(keeps(c0, 1), keeps(c1, 1U << 8U)),
                      hn::Or(keeps(c2, 1U << 16U), keeps(c3, 1U << 24U)));
    }
};

// A vector of counters, whose words 0 are `groups`.
struct Counters {
    Half even, odd;

    HWY_INLINE Counters(WordVector groups, const Shared& shared, WordVector m0, WordVector m1)
        : even(groups, shared, m0, m1), odd(high(groups), shared, m0, m1) {}

    HWY_INLINE void round(WordVector m0, WordVector m1, WordVector k0, WordVector k1) {
        even.round(m0, m1, k0, k1);
        odd.round(m0, m1, k0, k1);
    }

    // Writes 1 for each word that is at least `bound`, in the order of the counters.
    HWY_INLINE void store(WordVector bound, std::uint8_t* keep) const {
        const Words d;
        const hn::RepartitionToWide<Words> wide;
        const hn::Repartition<std::uint8_t, Words> bytes;
        const auto moved = hn::ShiftLeft<32>(hn::BitCast(wide, odd.kept(bound)));
        const WordVector all = hn::OddEven(hn::BitCast(d, moved), even.kept(bound));
        hn::StoreU(hn::BitCast(bytes, all), bytes, keep);
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
    const Shared shared(key, counter);
    const auto begun = [&](std::int64_t group) HWY_ATTR {
        return Counters(hn::Iota(d, first + static_cast<std::uint32_t>(group)), shared, m0, m1);
    };
    std::int64_t done = 0;
    for (; done + lanes <= groups; done += 2 * lanes) {
        Counters one = begun(done), two = begun(done + lanes);
        for (std::size_t round = 2; round < philox_rounds; ++round) {
            const WordVector k0 = hn::Set(d, shared.keys[round][0]);
            const WordVector k1 = hn::Set(d, shared.keys[round][1]);
            one.round(m0, m1, k0, k1);
            two.round(m0, m1, k0, k1);
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
