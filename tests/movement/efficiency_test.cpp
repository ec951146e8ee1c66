#include "viridian/movement/efficiency.hpp"

#include <gtest/gtest.h>

namespace viridian::movement {
namespace {

const Ceiling ceiling{.flop_in_a_second = 200e9,
                      .bytes_in_a_second = 20e9,
                      .near_cache = Bytes(1 << 20),
                      .last_cache = Bytes(16 << 20)};

TEST(Efficiency, IsTheShareOfPeakBandwidthOfWhatMustMove) {
    const Efficiency found =
        efficiency_of({.flop = Flop(10'000'000), .moved = Bytes(100'000'000)}, Seconds(0.01), ceiling);
    EXPECT_DOUBLE_EQ(found.mue, 50);  // 10 of 20 GB/s
    EXPECT_DOUBLE_EQ(found.percent_of_peak, 0.5);
    EXPECT_EQ(found.bound, Bound::memory);
    EXPECT_EQ(found.residency, Residency::memory);
}

// 2 x 4096^3 flop with 4 Mi words of cache: 2^37 / 2^11 words, which are more than the three matrices.
TEST(Efficiency, BoundsAProductByWhatTheCacheHolds) {
    const std::int64_t matrix = 4096LL * 4096 * 4;
    const Demand demand{.flop = Flop(std::int64_t{1} << 37), .moved = Bytes(3 * matrix), .product = true};
    const Efficiency found = efficiency_of(demand, Seconds(1), ceiling);
    EXPECT_EQ(found.least.value, 4 * (std::int64_t{1} << 26));
    EXPECT_EQ(found.bound, Bound::arithmetic);
    Ceiling unknown = ceiling;
    unknown.last_cache = Bytes(0);
    EXPECT_EQ(efficiency_of(demand, Seconds(1), unknown).least, demand.moved);
    EXPECT_EQ(efficiency_of({.flop = demand.flop, .moved = demand.moved}, Seconds(1), ceiling).least,
              demand.moved);
}

TEST(Efficiency, SaysWhichCacheHoldsTheTensors) {
    const auto residency = [](std::int64_t bytes) {
        return efficiency_of({.flop = {}, .moved = Bytes(bytes)}, Seconds(1), ceiling).residency;
    };
    EXPECT_EQ(residency(1 << 20), Residency::near_cache);
    EXPECT_EQ(residency((1 << 20) + 1), Residency::last_cache);
    EXPECT_EQ(residency((16 << 20) + 1), Residency::memory);
}

}  // namespace
}  // namespace viridian::movement
