#pragma once
// Converts between bf16 and f32 in memory.
#include <cstdint>

namespace viridian::execute::cpu::simd {

void widen(const std::uint16_t* from, float* to, std::int64_t n);
// Rounds to nearest, ties to even; NaN stays NaN.
void narrow(const float* from, std::uint16_t* to, std::int64_t n);
// Writes n pixels of four channels, one from each of `planes` planes that are `plane` elements apart.
// Channels without a plane are zeroes.
void narrow_planes(const float* from, std::int64_t planes, std::int64_t plane, std::uint16_t* to,
                   std::int64_t n);

}  // namespace viridian::execute::cpu::simd
