#pragma once
// Random generates pseudo-random numbers from a seed. Unlike std's distributions it gives the same numbers on
// every platform and compiler. It is xoshiro256** by Blackman and Vigna (2018), seeded by splitmix64.
#include <array>
#include <cstdint>

namespace viridian {

class Random {
  public:
    explicit Random(std::uint64_t seed);

    std::uint64_t next();                                       // 64 random bits
    std::uint64_t below(std::uint64_t bound);                   // uniform in [0, bound); bound > 0
    std::int64_t between(std::int64_t low, std::int64_t high);  // uniform in [low, high]
    double uniform();                                           // [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    double normal();  // mean 0, variance 1
    bool chance(double probability) { return uniform() < probability; }

  private:
    std::array<std::uint64_t, 4> state_;
};

}  // namespace viridian
