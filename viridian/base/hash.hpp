#pragma once
// Hash computes a 64-bit hash that is the same on every machine and in every run, so that it can be written
// to files. It is not cryptographic.
#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace viridian {

// Hash hashes the numbers and texts that are added to it, in order: Hash{}.add(1).add(2) differs from
// Hash{}.add(2).add(1).
class Hash {
  public:
    template <std::integral Integer>
    constexpr Hash& add(Integer number) {
        const auto word = static_cast<std::uint64_t>(number);
        state_ = mix(state_ ^ mix(word + 0x9e3779b97f4a7c15U)) + 0x632be59bd9b4e019U;
        return *this;
    }
    Hash& add(std::string_view bytes);
    constexpr Hash& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
    [[nodiscard]] constexpr std::uint64_t value() const { return mix(state_); }

  private:
    static constexpr std::uint64_t mix(std::uint64_t z) {  // the finaliser of splitmix64
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    std::uint64_t state_ = 0x2545f4914f6cdd1dU;
};

}  // namespace viridian
