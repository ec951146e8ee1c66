#include "viridian/cli/train/running_power.hpp"

#include <gtest/gtest.h>

namespace viridian::cli {
namespace {

meter::Meter counter(const std::string& name, std::vector<meter::Channel> channels, double update) {
    meter::Meter meter{name, std::move(channels), {}};
    meter.update = Seconds(update);
    return meter;
}
meter::Channel channel(const std::string& name, const std::string& device) {
    return {name, device, meter::Scope::package, meter::Kind::energy_uj, 0};
}

std::int64_t now_ns() { return meter::stamp_now().monotonic_ns; }

TEST(RunningPower, EnergyOfProcessorsWithTheIntervalOfTheMeter) {
    const std::vector<meter::Meter> meters = {
        counter("powercap", {channel("powercap", "cpu:0"), channel("powercap", "cpu:1")}, 0.01),
        counter("nvml", {channel("nvml", "cuda:0")}, 0.1)};
    RunningPower power(meters);
    const std::int64_t start = now_ns() - 1'000'000'000;
    const auto take = [&](std::size_t meter, std::uint32_t channel, std::int64_t at, std::int64_t value) {
        const meter::Sample sample{channel, at, at, value, 0};
        power.take(meter, std::span(&sample, 1));
    };
    for (const std::uint32_t package : {0U, 1U}) take(0, package, start, 500);
    take(1, 0, start, 0);
    const RunningPower::Moment from = power.now();
    EXPECT_FALSE(power.between(from, power.now()));  // not one reading since
    for (const std::uint32_t package : {0U, 1U}) take(0, package, start + 500'000'000, 500 + 10'000'000);
    take(1, 0, start + 500'000'000, 99'000'000);
    RunningPower::Moment to = power.now();
    to.monotonic_ns = from.monotonic_ns + 500'000'000;
    const auto energy = power.between(from, to);
    ASSERT_TRUE(energy);
    EXPECT_NEAR(energy->value.value, 20, 1e-9);  // both packages; the GPU is not what trains
    EXPECT_NEAR(energy->low.value, 20 * (1 - 0.01 / 0.5), 1e-9);
    EXPECT_NEAR(energy->high.value, 20 * (1 + 0.01 / 0.5), 1e-9);
    EXPECT_EQ(energy->provenance.text(), "measured:powercap");
    EXPECT_EQ(power.provenance().text(), "measured:powercap");
    EXPECT_EQ(power.horizon(), Seconds(1));
}

TEST(RunningPower, EstimatesSaySoAndAreAFactorOfTwoWide) {
    const std::vector<meter::Meter> meters = {counter("model", {channel("model-cpu-linear", "cpu:0")}, 0.01)};
    RunningPower power(meters);
    const std::int64_t start = now_ns();
    const meter::Sample first{0, start, start, 0, 0};
    power.take(0, std::span(&first, 1));
    const RunningPower::Moment from = power.now();
    const meter::Sample later{0, start + 200'000'000, start + 200'000'000, 1'000'000, 0};
    power.take(0, std::span(&later, 1));
    RunningPower::Moment to = power.now();
    to.monotonic_ns = from.monotonic_ns + 100'000'000;
    const auto energy = power.between(from, to);  // half the time that the readings cover
    ASSERT_TRUE(energy);
    EXPECT_NEAR(energy->value.value, 0.5, 1e-9);
    EXPECT_NEAR(energy->low.value, 0.5 * 0.95 / 2, 1e-9);
    EXPECT_NEAR(energy->high.value, 0.5 * 1.05 * 2, 1e-9);
    EXPECT_EQ(energy->provenance.kind, Provenance::Kind::estimated);
}

// What alternates is counted apart, and the parts add up to the whole, whatever the readings between.
TEST(RunningPower, TheStretchesOfARunAddUpToTheRun) {
    const std::vector<meter::Meter> meters = {counter("powercap", {channel("powercap", "cpu:0")}, 0.01)};
    RunningPower power(meters);
    const std::int64_t start = now_ns();
    RunningPower::Stretches steps, checkpoints;
    std::optional<RunningPower::Moment> first, last;
    for (std::int64_t i = 0; i <= 10; ++i) {  // 95 ms of steps at 10 W, 5 ms of checkpoint at 20 W
        for (const auto& [after, joules] : {std::pair(100, 1.05), std::pair(195, 2.0)}) {
            const std::int64_t at = start + (100 * i + after) * 1'000'000;
            const auto counted = static_cast<std::int64_t>(1e6 * (1.05 * static_cast<double>(i) + joules));
            const meter::Sample sample{0, at, at, counted, 0};
            power.take(0, std::span(&sample, 1));
            RunningPower::Moment now = power.now();
            now.monotonic_ns = at;
            if (!first) first = now;
            if (last) (after == 100 ? checkpoints : steps) += power.stretch(*last, now);
            last = now;
        }
    }
    const RunningPower::Stretches run = power.stretch(*first, *last);
    EXPECT_FALSE(power.energy({}, run)) << "nothing of the kind happened";
    const auto whole = power.energy(run, run), stepped = power.energy(steps, run);
    const auto kept = power.energy(checkpoints, run);
    ASSERT_TRUE(whole && stepped && kept);
    EXPECT_NEAR(stepped->value.value, 11 * 0.95, 1e-5);
    EXPECT_NEAR(kept->value.value, 10 * 0.1, 1e-5);
    EXPECT_NEAR(whole->value.value, stepped->value.value + kept->value.value, 1e-9);
    EXPECT_NEAR(kept->high.value - kept->value.value, 10 * 0.01 * 20, 1e-3) << "an update for each";
    EXPECT_EQ(kept->low, Joules(0)) << "a checkpoint takes less than an update";
    EXPECT_NEAR(stepped->value.value - stepped->low.value, 11 * 0.01 * whole->value.value / 1.095, 1e-3)
        << "the run draws more than its steps";
    EXPECT_NEAR(whole->high.value - whole->value.value, 0.01 * whole->value.value / 1.095, 1e-3);
}

TEST(RunningPower, AStretchInWhichTheMeterWasResetHasNoEnergy) {
    const std::vector<meter::Meter> meters = {counter("powercap", {channel("powercap", "cpu:0")}, 0.01)};
    RunningPower power(meters);
    const std::int64_t start = now_ns();
    std::vector<RunningPower::Moment> moments;
    for (const auto& [after, value] : {std::pair(0, 5'000'000), std::pair(300, 6'000'000), std::pair(600, 10),
                                       std::pair(900, 1'000'010)}) {
        const std::int64_t at = start + std::int64_t{after} * 1'000'000;
        const meter::Sample sample{0, at, at, value, 0};
        power.take(0, std::span(&sample, 1));
        moments.push_back(power.now());
        moments.back().monotonic_ns = at;
    }
    const RunningPower::Stretches run = power.stretch(moments[0], moments[3]);
    EXPECT_TRUE(power.energy(power.stretch(moments[0], moments[1]), run));
    EXPECT_FALSE(power.energy(power.stretch(moments[1], moments[2]), run));
    EXPECT_TRUE(power.energy(power.stretch(moments[2], moments[3]), run));
    EXPECT_FALSE(power.energy(run, run));
    RunningPower::Stretches tiny = power.stretch(moments[0], moments[1]);
    tiny.ns = 19'000'000;
    EXPECT_FALSE(power.energy(tiny, tiny)) << "less than two updates";
}

TEST(RunningPower, AResetOrTooFewUpdatesGiveNoEnergy) {
    const std::vector<meter::Meter> meters = {counter("powercap", {channel("powercap", "cpu:0")}, 0.01)};
    RunningPower power(meters);
    const std::int64_t start = now_ns();
    const auto take = [&](std::int64_t after, std::int64_t value) {
        const meter::Sample sample{0, start + after, start + after, value, 0};
        power.take(0, std::span(&sample, 1));
    };
    EXPECT_FALSE(power.between(power.now(), power.now()));  // nothing was read
    take(0, 5'000'000);
    const RunningPower::Moment from = power.now();
    take(15'000'000, 5'100'000);
    EXPECT_FALSE(power.between(from, power.now()));  // one update and a half
    take(300'000'000, 6'000'000);
    EXPECT_TRUE(power.between(from, power.now()));
    take(600'000'000, 10);
    EXPECT_FALSE(power.between(from, power.now()));
}

}  // namespace
}  // namespace viridian::cli
