#pragma once
// bf16 in memory, f32 in registers.
#include <cstdint>

namespace viridian::execute::cpu::simd {

void widen(const std::uint16_t* from, float* to, std::int64_t n);
// To nearest, ties to even; NaN stays NaN.
void narrow(const float* from, std::uint16_t* to, std::int64_t n);
// Of up to four planes, `plane` elements apart, n pixels of four channels; zeroes where there is no plane.
void narrow_planes(const float* from, std::int64_t planes, std::int64_t plane, std::uint16_t* to,
                   std::int64_t n);

}  // namespace viridian::execute::cpu::simd
