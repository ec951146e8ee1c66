#pragma once
// A Permutation is a random order of the numbers 0 to count - 1 that takes no memory: each place is computed
// when it is asked for. It is a Feistel network on the smallest power of two that holds the numbers (at least
// 256), walked until the result is in range (Black and Rogaway: Ciphers with Arbitrary Finite Domains, 2002,
// "Cycle-Walking Cipher"); its round keys come from Philox.
#include <array>
#include <cstdint>

namespace viridian::data {

class Permutation {
  public:
    // Seeds and streams give independent orders. `stream` is the epoch when samples are shuffled.
    Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t stream);
    [[nodiscard]] std::int64_t count() const { return count_; }
    // Returns the number at `place`, which is in [0, count).
    [[nodiscard]] std::int64_t at(std::int64_t place) const;

  private:
    [[nodiscard]] std::uint64_t once(std::uint64_t number) const;

    std::int64_t count_;
    unsigned low_bits_;
    std::uint64_t low_mask_, high_mask_;
    std::array<std::uint64_t, 8> keys_{};
};

}  // namespace viridian::data
