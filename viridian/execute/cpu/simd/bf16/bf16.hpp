#pragma once
// Converts between bf16 and f32 in memory.
#include <algorithm>
#include <cstdint>

namespace viridian::execute::cpu::simd {

// Converts `n` numbers from bf16 to f32.
void widen(const std::uint16_t* from, float* to, std::int64_t n);
// Rounds `n` numbers from f32 to bf16: to nearest, ties to even. NaN stays NaN. `to` may be where `from` is.
void narrow(const float* from, std::uint16_t* to, std::int64_t n);
// Rounds x, [block][row][16], to what bf16 holds, and nearly keeps the sums of rows: what a number loses is
// carried to the numbers of the same lane in the next blocks. Each takes at most largest_carry of its own
// size, so that it moves by one and a half units in its last place at most, and 0 stays 0.
void round_rows(float* x, std::int64_t rows, std::int64_t blocks);
inline constexpr float largest_carry = 1.0F / 256;
// Stores `n` f32 numbers as f32, or rounded to bf16.
inline void store(const float* from, float* to, std::int64_t n) { std::copy_n(from, n, to); }
inline void store(const float* from, std::uint16_t* to, std::int64_t n) { narrow(from, to, n); }
// Writes `n` pixels of four channels in bf16, one from each of `planes` planes of f32 that are `plane`
// elements apart. Channels without a plane are zeroes.
void narrow_planes(const float* from, std::int64_t planes, std::int64_t plane, std::uint16_t* to,
                   std::int64_t n);

}  // namespace viridian::execute::cpu::simd
