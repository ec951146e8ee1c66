#pragma once
// Loads bf16 from memory into vectors of f32 and stores it back, for micro-kernels that need AVX512_BF16: 16
// numbers in their order, or 32 channels as two vectors, the even and the odd ones, each a shift or a mask
// away from what lies in memory.
#include <immintrin.h>

#include <hwy/base.h>
#include <array>
#include <cstdint>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
namespace viridian::execute::cpu::simd {

inline constexpr std::int64_t bf16_lanes = 32;

// g++ 12 takes the undefined operand of the unmasked intrinsics for an error, so the code uses masked ones
// with this mask.
inline constexpr __mmask16 every_lane = 0xffff;

// Returns a mask of the first `n` channels of a block, at most 32.
HWY_INLINE __mmask32 first_lanes(std::int64_t n) {
    return static_cast<__mmask32>(n >= bf16_lanes ? 0xffffffffU : (1U << n) - 1U);
}

// These return the even and the odd ones of 32 channels in f32.
HWY_INLINE __m512 even_lanes(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(every_lane, pairs, 16));
}

HWY_INLINE __m512 odd_lanes(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
}

// Loads 16 numbers in their order, of bf16 (`narrow`) or f32, from element `at` on. Lanes outside `valid`
// are zero.
HWY_INLINE __m512 load_lanes(const void* from, bool narrow, std::int64_t at, __mmask16 valid) {
    if (!narrow) return _mm512_maskz_loadu_ps(valid, static_cast<const float*>(from) + at);
    const __m256i halves = _mm256_maskz_loadu_epi16(valid, static_cast<const std::uint16_t*>(from) + at);
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(every_lane, _mm512_maskz_cvtepu16_epi32(every_lane, halves), 16));
}

// Stores 16 numbers likewise. Lanes outside `valid` are not written.
HWY_INLINE void store_lanes(__m512 x, void* to, bool narrow, std::int64_t at, __mmask16 valid) {
    if (!narrow) return _mm512_mask_storeu_ps(static_cast<float*>(to) + at, valid, x);
    _mm256_mask_storeu_epi16(static_cast<std::uint16_t*>(to) + at, valid,
                             reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

// Returns 32 channels in bf16 and in their order, rounded to nearest even.
HWY_INLINE __m512i bf16_pairs(__m512 even, __m512 odd) {
    alignas(64) static constexpr auto order = [] {
        std::array<std::uint16_t, bf16_lanes> at{};
        for (std::size_t i = 0; i < at.size(); ++i)
            at[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * at.size() / 2);
        return at;
    }();
    const auto halves = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
    return _mm512_permutexvar_epi16(_mm512_load_si512(order.data()), halves);
}

}  // namespace viridian::execute::cpu::simd
HWY_POP_ATTRIBUTES
