#include "viridian/account/steps.hpp"

#include <gtest/gtest.h>

#include "tests/account/random_trace.hpp"

namespace viridian::account {
namespace {

meter::Series counter(std::vector<meter::Reading> readings, std::int64_t wrap = 0) {
    return {{"powercap", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, wrap}, std::move(readings)};
}

TEST(Steps, TotalComesFromTheEndsAndEqualsTheSum) {
    Random random(3);
    for (int round = 0; round < 100; ++round) {
        const Steps steps = steps_of(tests::random_counter(random, 0, 1000, 500));
        Exact sum = 0;
        for (const Step& step : steps.steps) sum += step.energy;
        EXPECT_EQ(microjoules(sum), microjoules(steps.total));
    }
}

TEST(Steps, UnchangedReadingsAreTheSameUpdate) {
    const Steps steps = steps_of(counter({{0, 10, 0},
                                          {4, 10, 0},
                                          {8, 10, 0},
                                          {12, 40, 0},
                                          {16, 40, 0},
                                          {20, 40, 0},
                                          {24, 70, 0},
                                          {28, 70, 0}}));
    ASSERT_EQ(steps.steps.size(), 1U);  // begins where the first update's age is known
    EXPECT_EQ(steps.steps[0].begin, 12);
    EXPECT_EQ(steps.steps[0].end, 24);
    EXPECT_EQ(microjoules(steps.steps[0].energy), 30);
    EXPECT_EQ(microjoules(steps.total), 30);
}

TEST(Steps, TheOnlyMoveCounts) {
    std::vector<meter::Reading> readings;
    for (int i = 0; i < 50; ++i) readings.push_back({i * 4'000'000LL, i < 25 ? 1000 : 3'001'000, 0});
    EXPECT_EQ(microjoules(steps_of(counter(readings)).total), 3'000'000);
}

TEST(Steps, AResetIsAGapNeverAWrap) {
    const Steps steps = steps_of(counter({{0, 1000, 0}, {4, 2000, 0}, {8, 10, 0}, {12, 500, 0}}));
    EXPECT_EQ(steps.resets, 1U);
    EXPECT_TRUE(steps.steps[1].gap);
    EXPECT_EQ(microjoules(steps.total), 1000 + 490);
    EXPECT_FALSE(steps.warnings.empty());
}

TEST(Steps, ALongSilenceThatMayHideAWrapIsDoubted) {
    std::vector<meter::Reading> readings;
    for (int i = 0; i < 100; ++i) readings.push_back({i * 4'000'000LL, i * 400'000LL, 0});  // 100 W
    readings.push_back({500'000'000'000, 41'000'000, 0});  // wraps each 1000 s
    const Steps sure = steps_of(counter(readings, 100'000'000'000));
    EXPECT_EQ(sure.gaps, 1U);
    EXPECT_EQ(sure.warnings.size(), 1U);
    const Steps doubtful = steps_of(counter(readings, 1'000'000'000));
    EXPECT_EQ(doubtful.warnings.size(), 2U);
}

TEST(Steps, PowerIsHeldOrAveraged) {
    meter::Series series{
        {"nvml", "cuda:0", meter::Scope::gpu, meter::Kind::average_uw, 0},
        {{0, 100'000'000, 0}, {1'000'000'000, 200'000'000, 0}, {2'000'000'000, 300'000'000, 0}}};
    EXPECT_NEAR(joules(steps_of(series).total).value, 500.0, 1e-9);
    series.channel.kind = meter::Kind::power_uw;
    EXPECT_NEAR(joules(steps_of(series).total).value, 400.0, 1e-9);
}

TEST(Steps, ChannelsAddUpOverTheTimeTheyShare) {
    const Steps package = steps_of(counter({{0, 0, 0}, {100, 1000, 0}, {200, 2000, 0}}));
    const Steps dram = steps_of(counter({{5, 0, 0}, {105, 100, 0}, {205, 200, 0}}));
    const Steps both = sum({dram, package});
    ASSERT_EQ(both.steps.size(), 2U);
    EXPECT_EQ(both.begin(), 5);
    EXPECT_EQ(both.end(), 200);
    EXPECT_NEAR(joules(both.total).value * 1e6, 1950 + 195, 1e-6);
    Exact total = 0;
    for (const Step& step : both.steps) total += step.energy;
    EXPECT_EQ(static_cast<double>(total - both.total), 0.0);
}

}  // namespace
}  // namespace viridian::account
