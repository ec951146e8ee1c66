#include "viridian/execute/cpu/simd/attention/panels.hpp"

#include <cmath>

#include "viridian/graph/element_type.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/attention/parts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "viridian/execute/cpu/simd/attention/lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

// Rounds f32 to the bf16 in the upper half of each lane; the lower half is zero.
HWY_INLINE V rounded(V x) {
    const D d;
    const Words w;
    const auto bits = hn::BitCast(w, x);
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(w, 1U));
    const auto up = hn::Add(bits, hn::Add(even, hn::Set(w, 0x7fffU)));
    const auto quiet = hn::Or(bits, hn::Set(w, 0x400000U));
    const auto made =
        hn::IfThenElse(hn::MaskFromVec(hn::BitCast(w, hn::VecFromMask(d, hn::IsNaN(x)))), quiet, up);
    return hn::BitCast(d, hn::And(made, hn::Set(w, 0xffff0000U)));
}
// Returns the part of `x` that a product of split matrices reads: x rounded, or the rest of it, rounded. The
// rest of what is not finite is 0.
HWY_INLINE V part_of(V x, Part part) {
    const V first = rounded(x);
    if (part == Part::rounded) return first;
    return hn::IfThenElseZero(hn::IsFinite(first), rounded(hn::Sub(x, first)));
}
HWY_INLINE V joined(V low, V high) {
    const Words w;
    return hn::BitCast(D(), hn::Or(hn::ShiftRight<16>(hn::BitCast(w, low)), hn::BitCast(w, high)));
}
std::uint32_t part_of(float x, Part part) {
    const std::uint16_t first = graph::to_bfloat16(x);
    if (part == Part::rounded) return first;
    const float whole = graph::from_bfloat16(first);
    return std::isfinite(whole) ? graph::to_bfloat16(x - whole) : std::uint16_t{0};
}

// A unit is two neighbours in a line of f32, each reduced to one part of it in bf16.
struct PartPairs {
    const float* first;
    std::int64_t stride;
    Part part;
    [[nodiscard]] PartPairs from(std::int64_t line, std::int64_t at) const {
        return {first + line * stride + 2 * at, stride, part};
    }
    [[nodiscard]] float unit(std::int64_t line, std::int64_t at) const {
        const float* x = first + line * stride + 2 * at;
        return unit_of(part_of(x[0], part) | part_of(x[1], part) << 16U);
    }
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const {
#if HWY_TARGET == HWY_SCALAR
        return hn::Set(D(), unit(line, 0));
#else
        const D d;
        const float* x = first + line * stride;
        const V a = part_of(hn::LoadU(d, x), part), b = part_of(hn::LoadU(d, x + hn::MaxLanes(d)), part);
        return joined(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
#endif
    }
};

// A unit is one part each of two f32 at the same place of two neighbouring lines.
struct PartsInterleaved {
    const float* first;
    std::int64_t stride;
    Part part;
    [[nodiscard]] PartsInterleaved from(std::int64_t line, std::int64_t at) const {
        return {first + 2 * line * stride + at, stride, part};
    }
    [[nodiscard]] float unit(std::int64_t line, std::int64_t at) const {
        const float* x = first + 2 * line * stride + at;
        return unit_of(part_of(x[0], part) | part_of(x[stride], part) << 16U);
    }
    [[nodiscard]] HWY_INLINE V load(std::int64_t line) const {
        const float* x = first + 2 * line * stride;
        return joined(part_of(hn::LoadU(D(), x), part), part_of(hn::LoadU(D(), x + stride), part));
    }
};

void part_weights_packed(const MatrixView& m, Part part, std::int64_t rows, std::int64_t columns,
                         std::int64_t width, float* to) {
    if (m.column != 1)
        groups_packed(PartPairs{m.first, m.column, part}, true, rows / 2, columns, width, 16, to);
    else
        groups_packed(PartsInterleaved{m.first, m.row, part}, false, rows / 2, columns, width, 16, to);
}

void part_pixels_packed(const MatrixView& m, Part part, std::int64_t rows, std::int64_t columns,
                        std::int64_t width, float* to) {
    if (m.column != 1)
        groups_packed(PartsInterleaved{m.first, m.column, part}, true, rows, columns / 2, width / 2,
                      width / 2, to);
    else
        groups_packed(PartPairs{m.first, m.row, part}, false, rows, columns / 2, width / 2, width / 2, to);
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(part_weights_packed);
HWY_EXPORT(part_pixels_packed);

void pack_part_panels(const MatrixView& matrix, Part part, std::int64_t rows, std::int64_t columns,
                      std::int64_t width, std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(part_weights_packed)
    (matrix, part, rows, columns, width, reinterpret_cast<float*>(to));
}
void pack_part_pixels(const MatrixView& matrix, Part part, std::int64_t rows, std::int64_t columns,
                      std::int64_t width, std::uint16_t* to) {
    HWY_DYNAMIC_DISPATCH(part_pixels_packed)
    (matrix, part, rows, columns, width, reinterpret_cast<float*>(to));
}

}  // namespace viridian::execute::cpu::simd
#endif
