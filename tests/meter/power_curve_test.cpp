#include "viridian/meter/curve/power_curve.hpp"
#include "viridian/meter/curve/running_energy.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_counter.hpp"

namespace viridian::meter {
namespace {

Series counter(std::vector<Reading> readings, std::int64_t wrap = 0) {
    return {{"powercap", "cpu:0", Scope::package, Kind::energy_uj, wrap}, std::move(readings)};
}

TEST(PowerCurve, TotalComesFromTheEndsAndEqualsTheSum) {
    Random random(3);
    for (int round = 0; round < 100; ++round) {
        const PowerCurve curve = curve_of(viridian::tests::random_counter(random, 0, 1000, 500));
        Exact sum = 0;
        for (const PowerSegment& segment : curve.segments) sum += segment.energy;
        EXPECT_EQ(microjoules(sum), microjoules(curve.total));
    }
}

TEST(PowerCurve, UnchangedReadingsAreTheSameUpdate) {
    const PowerCurve curve = curve_of(counter({{0, 10, 0},
                                               {4, 10, 0},
                                               {8, 10, 0},
                                               {12, 40, 0},
                                               {16, 40, 0},
                                               {20, 40, 0},
                                               {24, 70, 0},
                                               {28, 70, 0}}));
    ASSERT_EQ(curve.segments.size(), 1U);    // begins where the first update's age is known
    EXPECT_EQ(curve.segments[0].begin, 10);  // between the last reading of 10 and the first of 40
    EXPECT_EQ(curve.segments[0].end, 22);
    EXPECT_EQ(microjoules(curve.segments[0].energy), 30);
    EXPECT_EQ(microjoules(curve.total), 30);
}

TEST(PowerCurve, TheOnlyMoveCounts) {
    std::vector<Reading> readings;
    for (int i = 0; i < 50; ++i) readings.push_back({i * 4'000'000LL, i < 25 ? 1000 : 3'001'000, 0});
    EXPECT_EQ(microjoules(curve_of(counter(readings)).total), 3'000'000);
}

TEST(PowerCurve, AResetIsAGapNeverAWrap) {
    const PowerCurve curve = curve_of(counter({{0, 1000, 0}, {4, 2000, 0}, {8, 10, 0}, {12, 500, 0}}));
    EXPECT_EQ(curve.resets, 1U);
    EXPECT_TRUE(curve.segments[1].gap);
    EXPECT_EQ(microjoules(curve.total), 1000 + 490);
    EXPECT_FALSE(curve.warnings.empty());
}

TEST(PowerCurve, ALongSilenceThatMayHideAWrapIsDoubted) {
    std::vector<Reading> readings;
    for (int i = 0; i < 100; ++i) readings.push_back({i * 4'000'000LL, i * 400'000LL, 0});  // 100 W
    readings.push_back({500'000'000'000, 41'000'000, 0});  // wraps each 1000 s
    const PowerCurve sure = curve_of(counter(readings, 100'000'000'000));
    EXPECT_EQ(sure.gaps, 1U);
    EXPECT_EQ(sure.warnings.size(), 1U);
    const PowerCurve doubtful = curve_of(counter(readings, 1'000'000'000));
    EXPECT_EQ(doubtful.warnings.size(), 2U);
}

TEST(PowerCurve, PowerIsHeldOrAveraged) {
    Series series{{"nvml", "cuda:0", Scope::gpu, Kind::average_uw, 0},
                  {{0, 100'000'000, 0}, {1'000'000'000, 200'000'000, 0}, {2'000'000'000, 300'000'000, 0}}};
    EXPECT_NEAR(joules(curve_of(series).total).value, 500.0, 1e-9);
    series.channel.kind = Kind::power_uw;
    EXPECT_NEAR(joules(curve_of(series).total).value, 400.0, 1e-9);
}

TEST(PowerCurve, ChannelsAddUpOverTheTimeTheyShare) {
    const PowerCurve package = curve_of(counter({{0, 0, 0}, {100, 1000, 0}, {200, 2000, 0}}));
    const PowerCurve dram = curve_of(counter({{5, 0, 0}, {105, 100, 0}, {205, 200, 0}}));
    const PowerCurve both = sum({dram, package});
    ASSERT_EQ(both.segments.size(), 2U);
    EXPECT_EQ(both.begin(), 5);
    EXPECT_EQ(both.end(), 200);
    EXPECT_NEAR(joules(both.total).value * 1e6, 1950 + 195, 1e-6);
    Exact total = 0;
    for (const PowerSegment& segment : both.segments) total += segment.energy;
    EXPECT_EQ(static_cast<double>(total - both.total), 0.0);
}

// The recording and the running energy judge each pair of readings by the same rule.
TEST(PowerCurve, AgreesWithTheRunningEnergyWhateverHappensToACounter) {
    Random random(5);
    int wraps = 0, resets = 0;
    for (int round = 0; round < 500; ++round) {
        Series series = counter({}, 262'143'328'850);
        std::int64_t value = random.below(2) == 0 ? 262'140'000'000 : 1'000'000'000;
        Nanoseconds time = 0;
        for (int i = 0; i < 400; ++i, time += 4'000'000) {
            series.readings.push_back({time, value, 0});
            value = (value + random.between(300'000, 500'000)) % 262'143'328'850;  // about 100 W
            if (i == 200 && round % 3 == 0) value = random.between(0, 50'000'000'000);
        }
        RunningEnergy running(series.channel);
        for (const Reading& reading : series.readings)
            running.take({0, reading.time_ns, reading.time_ns, reading.value, 0});
        const PowerCurve curve = curve_of(series);
        const RunningEnergy::State state = running.at(time);
        EXPECT_EQ(state.energy, curve.total) << round;
        EXPECT_EQ(state.doubts, curve.resets) << round;
        wraps += static_cast<int>(curve.wraps);
        resets += static_cast<int>(curve.resets);
    }
    EXPECT_GT(wraps, 50);
    EXPECT_GT(resets, 50);
}

}  // namespace
}  // namespace viridian::meter
