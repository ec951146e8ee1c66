#include "viridian/execute/cpu/simd/attention/score_block.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/attention/score_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "viridian/execute/cpu/simd/elementwise/exponential-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr std::int64_t width = 16;  // of a block of keys
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
constexpr int rows_at_once = 4;

HWY_INLINE V load_first(const float* from, std::int64_t count) {
    const D d;
    if (count >= lanes) return hn::LoadU(d, from);
    if (count <= 0) return hn::Zero(d);
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
}

// x where the flags of keys [key, key + lanes) do not hide it, else the value that stands for it.
HWY_INLINE V hidden_at(const ScoreBlock::Hidden& hidden, std::int64_t row, std::int64_t key,
                       std::int64_t valid, V x) {
    const D d;
    const hn::RebindToSigned<D> whole;
    const hn::Rebind<std::uint8_t, D> narrow;
    const V value = hn::Set(d, hidden.value);
    const std::uint8_t* from = hidden.first + row * hidden.row_stride;
    if (hidden.key_stride == 0) return (*from != 0) == hidden.keeps ? x : value;
    from += key;
    std::array<std::uint8_t, width> part{};
    if (valid < lanes) {
        std::copy_n(from, std::max<std::int64_t>(valid, 0), part.begin());
        from = part.data();
    }
    const auto off = hn::Eq(hn::PromoteTo(whole, hn::LoadU(narrow, from)), hn::Zero(whole));
    const auto is_off = hn::RebindMask(d, off);
    return hidden.keeps ? hn::IfThenElse(is_off, value, x) : hn::IfThenElse(is_off, x, value);
}

// The score vectors of `Rows` rows from `row` on, with masks; lanes from `valid` on become −∞.
template <int Rows, bool Masked>
HWY_INLINE void raise(const ScoreBlock& b, std::int64_t row, std::int64_t key, std::int64_t valid,
                      V (&most)[Rows]) {
    const D d;
    const V nothing = hn::Neg(hn::Inf(d));
    float* at = b.scores + (key / width * b.rows + row) * width + key % width;
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
        V x = hn::LoadU(d, at + r * width);
        if constexpr (Masked)
            for (int m = 0; m < b.mask_count; ++m) {
                const ScoreBlock::Mask& mask = b.masks[static_cast<std::size_t>(m)];
                const float* from = mask.first + (row + r) * mask.row_stride;
                x = hn::Add(x, mask.key_stride == 0 ? hn::Set(d, *from) : load_first(from + key, valid));
            }
        if constexpr (Masked)
            if (b.hidden.first != nullptr) x = hidden_at(b.hidden, row + r, key, valid, x);
        if (valid < lanes)
            x = valid <= 0 ? nothing
                           : hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(valid)), x, nothing);
        if (Masked || valid < lanes) hn::StoreU(x, d, at + r * width);
        most[r] = hn::Max(x, most[r]);  // the second one if x is NaN
    }
}

template <int Rows, bool Masked>
HWY_INLINE void exponentials_of(const ScoreBlock& b, std::int64_t row) {
    const D d;
    const std::int64_t padded = (b.keys + width - 1) / width * width;
    V shift[Rows], sum[Rows];
    for (int r = 0; r < Rows; ++r) shift[r] = hn::Neg(hn::Inf(d));
    for (std::int64_t key = 0; key < padded; key += lanes)
        raise<Rows, Masked>(b, row, key, b.keys - key, shift);
    for (int r = 0; r < Rows; ++r) {
        const float before = b.first ? -HUGE_VALF : b.most[row + r];
        float most = hn::GetLane(hn::MaxOfLanes(d, shift[r]));
        if (!(most > before)) most = before;
        const float decay = most == before ? 1.0F : std::exp(before - most);
        b.most[row + r] = most;
        b.decay[row + r] = decay;
        shift[r] = hn::Set(d, most == -HUGE_VALF ? 0.0F : most);
        sum[r] = b.first ? hn::Zero(d) : hn::Mul(hn::Set(d, decay), hn::LoadU(d, b.sums + (row + r) * width));
    }
    for (std::int64_t key = 0; key < padded; key += lanes) {
        float* at = b.scores + (key / width * b.rows + row) * width + key % width;
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
            const V e = decaying_exponential(d, hn::Sub(hn::LoadU(d, at + r * width), shift[r]));
            hn::StoreU(e, d, at + r * width);
            sum[r] = hn::Add(sum[r], e);
        }
    }
    for (int r = 0; r < Rows; ++r) {
        float* to = b.sums + (row + r) * width;
        hn::StoreU(sum[r], d, to);
        for (std::int64_t i = lanes; i < width; i += lanes) hn::StoreU(hn::Zero(d), d, to + i);
    }
}

template <bool Masked>
void exponentials_by_rows(const ScoreBlock& b) {
    std::int64_t row = 0;
    for (; row + rows_at_once <= b.rows; row += rows_at_once) exponentials_of<rows_at_once, Masked>(b, row);
    for (; row < b.rows; ++row) exponentials_of<1, Masked>(b, row);
}

void block_exponentials(const ScoreBlock& b) {
    b.mask_count > 0 || b.hidden.first != nullptr ? exponentials_by_rows<true>(b)
                                                  : exponentials_by_rows<false>(b);
}

void rows_scaled(float* x, const float* factors, std::int64_t rows, std::int64_t count) {
    const D d;
    for (std::int64_t r = 0; r < rows; ++r, x += count) {
        if (factors[r] == 1.0F) continue;
        const V factor = hn::Set(d, factors[r]);
        for (std::int64_t i = 0; i < count; i += lanes)
            hn::StoreU(hn::Mul(factor, hn::LoadU(d, x + i)), d, x + i);
    }
}

void rows_divided(const float* x, const float* sums, float numerator, std::int64_t rows, std::int64_t count,
                  float* to, std::int64_t stride, std::int64_t valid) {
    const D d;
    for (std::int64_t r = 0; r < rows; ++r, x += count, to += stride) {
        V sum = hn::LoadU(d, sums + r * width);
        for (std::int64_t i = lanes; i < width; i += lanes)
            sum = hn::Add(sum, hn::LoadU(d, sums + r * width + i));
        const float factor = numerator / hn::GetLane(hn::SumOfLanes(d, sum));
        const V scale = hn::Set(d, factor);
        std::int64_t i = 0;
        for (; i + lanes <= valid; i += lanes) hn::StoreU(hn::Mul(scale, hn::LoadU(d, x + i)), d, to + i);
        for (; i < valid; ++i) to[i] = factor * x[i];
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(block_exponentials);
HWY_EXPORT(rows_scaled);
HWY_EXPORT(rows_divided);

void exponentials(const ScoreBlock& block) { HWY_DYNAMIC_DISPATCH(block_exponentials)(block); }
void scale_rows(float* x, const float* factors, std::int64_t rows, std::int64_t width) {
    HWY_DYNAMIC_DISPATCH(rows_scaled)(x, factors, rows, width);
}
void divide_rows(const float* x, const float* sums, float factor, std::int64_t rows, std::int64_t width,
                 float* to, std::int64_t stride, std::int64_t count) {
    HWY_DYNAMIC_DISPATCH(rows_divided)(x, sums, factor, rows, width, to, stride, count);
}

}  // namespace viridian::execute::cpu::simd
#endif
