#include "viridian/execute/cpu/simd/attention/score_gradient.hpp"

#include <algorithm>
#include <array>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/attention/score_gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr std::int64_t width = 16;  // of a block of keys
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

// `value` where the 16 bytes of a block say so, else 0.
struct Choice {
    std::array<std::uint8_t, width> bytes{};

    // Copies the bytes for keys `key` to `key` + 15 of one row. Where the row ends earlier, the other bytes
    // stay 0, so that of() gives 0 there.
    Choice(const std::uint8_t* row, std::int64_t key, std::int64_t keys) {
        std::copy_n(row + key, std::min(width, keys - key), bytes.begin());
    }
    HWY_INLINE V of(V value, std::int64_t lane) const {
        const D d;
        const hn::RebindToSigned<D> whole;
        const hn::Rebind<std::uint8_t, D> narrow;
        const auto kept = hn::PromoteTo(whole, hn::LoadU(narrow, bytes.data() + lane));
        return hn::IfThenZeroElse(hn::RebindMask(d, hn::Eq(kept, hn::Zero(whole))), value);
    }
};

void scores_dropped(float* scores, std::int64_t rows, std::int64_t keys, const KeptScores& kept) {
    const D d;
    for (std::int64_t key = 0; key < keys; key += width)
        for (std::int64_t r = 0; r < rows; ++r, scores += width) {
            const Choice choice(kept.first + r * kept.row_stride, key, keys);
            for (std::int64_t i = 0; i < width; i += lanes)
                hn::StoreU(choice.of(hn::LoadU(d, scores + i), i), d, scores + i);
        }
}

float sum_of_block(const float* x) {
    const D d;
    V sum = hn::LoadU(d, x);
    for (std::int64_t i = lanes; i < width; i += lanes) sum = hn::Add(sum, hn::LoadU(d, x + i));
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <bool Dropped>
void row_differentiated(const ScoreGradient& b, std::int64_t row) {
    const D d;
    const V inverse = hn::Set(d, 1.0F / sum_of_block(b.sums + row * width));
    const V kept_scale = hn::Set(d, b.kept_scale), scale = hn::Set(d, b.scale);
    const std::uint8_t* const kept = Dropped ? b.kept.first + row * b.kept.row_stride : nullptr;
    V dot = hn::Zero(d);
    for (std::int64_t key = 0; key < b.keys; key += width) {
        const std::int64_t at = (key / width * b.rows + row) * width;
        for (std::int64_t i = 0; i < width; i += lanes) {
            const V p = hn::Mul(inverse, hn::LoadU(d, b.weights + at + i));
            V g = hn::LoadU(d, b.gradient + at + i);
            g = hn::Mul(kept_scale, g);
            if constexpr (Dropped) g = Choice(kept, key, b.keys).of(g, i);
            dot = hn::MulAdd(g, p, dot);
            hn::StoreU(p, d, b.weights + at + i);
            hn::StoreU(g, d, b.gradient + at + i);
        }
    }
    const V mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, dot)));
    for (std::int64_t key = 0; key < b.keys; key += width) {
        const std::int64_t at = (key / width * b.rows + row) * width;
        for (std::int64_t i = 0; i < width; i += lanes) {
            const V p = hn::LoadU(d, b.weights + at + i), g = hn::LoadU(d, b.gradient + at + i);
            hn::StoreU(hn::Mul(hn::Mul(scale, p), hn::Sub(g, mean)), d, b.gradient + at + i);
            V weight = hn::Mul(kept_scale, p);
            if constexpr (Dropped) weight = Choice(kept, key, b.keys).of(weight, i);
            hn::StoreU(weight, d, b.weights + at + i);
        }
    }
}

// Sets the gradient of hidden scores to 0, because a number stands for them, whatever the products are.
void hide_gradient(const ScoreGradient& b, std::int64_t row) {
    const std::uint8_t* const flags = b.hidden.first + row * b.hidden.row_stride;
    for (std::int64_t key = 0; key < b.keys; ++key) {
        const bool flag = flags[key * b.hidden.key_stride] != 0;
        float& x = b.gradient[(key / width * b.rows + row) * width + key % width];
        x = flag == b.hidden.keeps ? x : 0.0F;
    }
}

void scores_differentiated(const ScoreGradient& b) {
    for (std::int64_t row = 0; row < b.rows; ++row) {
        b.kept.first != nullptr ? row_differentiated<true>(b, row) : row_differentiated<false>(b, row);
        if (b.hidden.first != nullptr) hide_gradient(b, row);
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(scores_dropped);
HWY_EXPORT(scores_differentiated);

void drop_scores(float* scores, std::int64_t rows, std::int64_t keys, const KeptScores& kept) {
    if (kept.first != nullptr) HWY_DYNAMIC_DISPATCH(scores_dropped)(scores, rows, keys, kept);
}
void differentiate_scores(const ScoreGradient& block) { HWY_DYNAMIC_DISPATCH(scores_differentiated)(block); }

}  // namespace viridian::execute::cpu::simd
#endif
