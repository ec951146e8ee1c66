#pragma once
// The loops of peaks.hpp, each for one thread. They need AVX2 and FMA, except those that say more.
#include <cstddef>
#include <cstdint>

namespace viridian::execute::cpu {

// An ArithmeticLoop keeps all its numbers in registers. `run` returns a sum of them, so that nothing is left
// out.
struct ArithmeticLoop {
    double flop_of_a_pass = 0;
    float (*run)(std::int64_t passes) = nullptr;
};
[[nodiscard]] ArithmeticLoop f32_loop(bool avx512);
[[nodiscard]] ArithmeticLoop bf16_loop();  // needs AVX512_BF16
[[nodiscard]] ArithmeticLoop tile_loop();  // needs simd::matrix_unit()

// These read or write `bytes` bytes, a multiple of 256, at addresses that are multiples of 64. `streaming`:
// stores bypass the caches.
[[nodiscard]] float read_all(const std::byte* from, std::size_t bytes);
void write_all(std::byte* to, std::size_t bytes, bool streaming);
void copy_all(const std::byte* from, std::byte* to, std::size_t bytes, bool streaming);

}  // namespace viridian::execute::cpu
