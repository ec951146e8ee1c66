#pragma once
// Philox is a counter-based generator of random numbers: the numbers are a pure function of a key and a
// counter, so that they do not depend on the order in which they are drawn, on threads or on earlier draws.
// It is Philox4x32-10 by Salmon, Moraes, Dror and Shaw (Parallel Random Numbers: As Easy as 1, 2, 3; SC
// 2011).
#include <array>
#include <cstdint>

namespace viridian {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The constants of Philox4x32: the multipliers of a round, by counter words 0 and 2, and what is added to the
// key after each round.
inline constexpr std::array<std::uint32_t, 2> philox_multipliers = {0xD2511F53U, 0xCD9E8D57U};
inline constexpr std::array<std::uint32_t, 2> philox_key_steps = {0x9E3779B9U, 0xBB67AE85U};
inline constexpr int philox_rounds = 10;

// Returns the key whose two words are the low and the high half of `seed`.
constexpr PhiloxKey philox_key(std::uint64_t seed) {
    return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
}

// Returns the four words that belong to `counter` under `key`, each uniform in [0, 2^32).
constexpr std::array<std::uint32_t, 4> philox4x32(PhiloxCounter counter, PhiloxKey key) {
    for (int round = 0; round < philox_rounds; ++round) {
        const std::uint64_t first = std::uint64_t{philox_multipliers[0]} * counter[0];
        const std::uint64_t second = std::uint64_t{philox_multipliers[1]} * counter[2];
        counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(second),
                   static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(first)};
        key[0] += philox_key_steps[0];
        key[1] += philox_key_steps[1];
    }
    return counter;
}

// Maps a random word to [0, bound). No value is favoured by more than bound / 2^32.
constexpr std::uint32_t philox_below(std::uint32_t word, std::uint32_t bound) {
    return static_cast<std::uint32_t>((std::uint64_t{word} * bound) >> 32U);
}

// Maps a random word to [0, 1), in steps of 2^-32.
constexpr double philox_uniform(std::uint32_t word) { return word * 0x1p-32; }

}  // namespace viridian
