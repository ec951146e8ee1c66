#pragma once
// Mixes the bits of a number.
#include <cstdint>

namespace viridian {

// Returns a number of which each bit depends on each of `z`: the finaliser of splitmix64 (Steele, Lea and
// Flood, 2014), a bijection.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

}  // namespace viridian
