#include "viridian/execute/cpu/simd/bf16/scores.hpp"

#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/bf16/lanes.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {
namespace {

constexpr std::int64_t width = 16;  // of a block of keys

// Returns x plus the carried rounding error `lost`, limited to largest_carry · |x|.
HWY_INLINE __m512 with_carry(__m512 x, __m512 lost) {
    const __m512 most = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(largest_carry));
    const __m512 least = _mm512_sub_ps(_mm512_setzero_ps(), most);
    return _mm512_add_ps(x,
                         _mm512_maskz_max_ps(every_lane, least, _mm512_maskz_min_ps(every_lane, most, lost)));
}

// Returns the rounding error to carry on after x was rounded to `kept`, or `lost` if that is not finite.
HWY_INLINE __m512 lost_with(__m512 x, __m512 kept, __m512 lost) {
    const __m512 rest = _mm512_add_ps(_mm512_sub_ps(x, kept), lost);
    const __mmask16 is_finite =
        _mm512_cmp_ps_mask(_mm512_sub_ps(rest, rest), _mm512_setzero_ps(), _CMP_EQ_OQ);
    return _mm512_mask_mov_ps(lost, is_finite, rest);
}

// Two rows, from `first` on.
template <bool KeepsSums>
HWY_INLINE void two_rows(const NarrowScores& s, std::int64_t first) {
    __m512 lost[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    const std::int64_t blocks = s.keys.blocks(), columns = s.keys.columns;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t at = (b * s.rows + first) * width, group = b / columns;
        const __m512 x[2] = {_mm512_loadu_ps(s.scores + at), _mm512_loadu_ps(s.scores + at + width)};
        const __m512 y[2] = {KeepsSums ? with_carry(x[0], lost[0]) : x[0],
                             KeepsSums ? with_carry(x[1], lost[1]) : x[1]};
        const __m512i pairs = bf16_pairs(y[0], y[1]);
        if constexpr (KeepsSums) {
            lost[0] = lost_with(x[0], even_lanes(pairs), lost[0]);
            lost[1] = lost_with(x[1], odd_lanes(pairs), lost[1]);
        }
        if (s.pixels != nullptr)
            _mm512_storeu_si512(s.pixels + at, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(y[1], y[0])));
        const std::int64_t pair = first / 2 * s.keys.width(group) + b % columns;
        _mm512_storeu_si512(s.weights + s.keys.offset(group, s.rows * width) + pair * 2 * width, pairs);
    }
}

}  // namespace

void narrow_scores(const NarrowScores& s) {
    for (std::int64_t first = 0; first < s.rows; first += 2)
        s.keeps_sums ? two_rows<true>(s, first) : two_rows<false>(s, first);
}

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES
