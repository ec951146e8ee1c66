#pragma once
// 32 channels of bf16 as two vectors of f32, the even and the odd ones: each is a shift or a mask away from
// what lies in memory. For micro-kernels that need AVX512_BF16.
#include <immintrin.h>

#include <hwy/base.h>
#include <array>
#include <cstdint>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {

inline constexpr std::int64_t brain_lanes = 32;

// g++ 12 takes the undefined operand of the unmasked intrinsics for an error.
inline constexpr __mmask16 every_lane = 0xffff;

// The first n channels, at most 32.
HWY_INLINE __mmask32 first_lanes(std::int64_t n) {
    return static_cast<__mmask32>(n >= brain_lanes ? 0xffffffffU : (1U << n) - 1U);
}

HWY_INLINE __m512 even_lanes(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(every_lane, pairs, 16));
}

HWY_INLINE __m512 odd_lanes(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
}

// Back to bf16, to nearest even.
HWY_INLINE __m512i brain_pairs(__m512 even, __m512 odd) {
    alignas(64) static constexpr auto order = [] {
        std::array<std::uint16_t, brain_lanes> at{};
        for (std::size_t i = 0; i < at.size(); ++i)
            at[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * at.size() / 2);
        return at;
    }();
    const auto halves = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
    return _mm512_permutexvar_epi16(_mm512_load_si512(order.data()), halves);
}

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES
