#include "viridian/account/deconvolve/deconvolve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/cases.hpp"
#include "viridian/account/selftest/selftest.hpp"

namespace viridian::account {
namespace {

Scenario short_run(double seconds, std::uint64_t seed) {
    Scenario scenario = calm();
    scenario.duration = Seconds(seconds);
    scenario.seed = seed;
    return scenario;
}

struct Outcome {
    SyntheticProgram truth;
    Deconvolution fitted;
    double median = 0.0, coverage = 0.0;
};

Outcome outcome_of(const Scenario& scenario, const SensorModel& sensor) {
    Outcome out{synthesize(scenario), {}};
    const meter::Series series = measure(out.truth, sensor, scenario);
    out.fitted = deconvolve(out.truth.leaves, static_cast<std::uint32_t>(out.truth.energy.size()),
                            curve_of(series), &series);
    if (out.fitted.attribution.shares.empty()) return out;
    std::vector<double> errors;
    for (std::size_t k = 0; k < out.truth.energy.size(); ++k) {
        const Share& share = out.fitted.attribution.shares[k];
        const double want = out.truth.energy[k].value;
        errors.push_back(std::abs(joules(share.energy).value - want) / want);
        out.coverage += joules(share.low).value <= want && want <= joules(share.high).value ? 1.0 : 0.0;
    }
    out.coverage /= static_cast<double>(errors.size());
    std::sort(errors.begin(), errors.end());
    out.median = errors[errors.size() / 2];
    return out;
}

TEST(Deconvolve, FindsWattsAndShiftOfFastCounters) {
    for (const std::size_t sensor : {0U, 1U})
        for (std::uint64_t seed = 1; seed <= cases(2U); ++seed) {
            const Scenario scenario = short_run(10, seed);
            const Outcome got = outcome_of(scenario, sensor_models()[sensor]);
            EXPECT_TRUE(got.fitted.trusted) << got.fitted.verdict;
            EXPECT_LT(got.median, 0.01);
            EXPECT_GE(got.coverage, 0.89);
            EXPECT_NEAR(got.fitted.sensor.shift_ns, scenario.shift.value * 1e9, 0.02e6);
            EXPECT_LT(std::abs(joules(got.fitted.attribution.imbalance()).value), 1e-6);
        }
}

// Profilers with microseconds write events of no length; one may come last, after a pause.
TEST(Deconvolve, BalancesItsBooksWhenTheLastEventHasNoLength) {
    const Scenario scenario = short_run(10, 3);
    SyntheticProgram truth = synthesize(scenario);
    const meter::Series series = measure(truth, sensor_models()[1], scenario);
    Leaf last = truth.leaves.back();
    last.start = last.end = truth.leaves.back().end - 2'000'000;
    std::erase_if(truth.leaves, [&](const Leaf& leaf) { return leaf.end > last.start - 50'000'000; });
    truth.leaves.push_back(last);
    const Deconvolution fitted =
        deconvolve(truth.leaves, static_cast<std::uint32_t>(truth.energy.size()), curve_of(series), &series);
    ASSERT_FALSE(fitted.attribution.shares.empty()) << fitted.verdict;
    EXPECT_LT(std::abs(joules(fitted.attribution.imbalance()).value), 1e-6);
}

// As many as a deep network has, repeated as its layers are: the search lumps few of them together.
TEST(Deconvolve, FindsTheShiftAmongManyKinds) {
    Scenario scenario = short_run(10, 4);
    scenario.kinds = 120;
    scenario.per_iteration = 240;
    scenario.power_jitter = 0.02;
    const Outcome got = outcome_of(scenario, sensor_models()[1]);
    EXPECT_TRUE(got.fitted.trusted) << got.fitted.verdict;
    EXPECT_NEAR(got.fitted.sensor.shift_ns, scenario.shift.value * 1e9, 0.05e6);
}

TEST(Deconvolve, FindsTheWindowOfAMean) {
    Scenario scenario = short_run(10, 3);
    scenario.shift = Seconds(0.007);
    const Outcome got = outcome_of(scenario, {"mean", meter::Kind::average_uw, 40'000'000, 25'000'000});
    EXPECT_TRUE(got.fitted.trusted) << got.fitted.verdict;
    EXPECT_NEAR(got.fitted.sensor.window_ns, 25e6, 0.5e6);
    EXPECT_NEAR(got.fitted.sensor.shift_ns, 7e6, 0.2e6);
}

TEST(Deconvolve, DriftJitterAndTwoStreams) {
    Scenario scenario = rough();
    scenario.duration = Seconds(35);
    const Outcome got = outcome_of(scenario, sensor_models()[1]);
    EXPECT_TRUE(got.fitted.trusted) << got.fitted.verdict;
    EXPECT_LT(got.median, 0.04);
    EXPECT_GE(got.coverage, 0.89);
    EXPECT_LT(std::abs(joules(got.fitted.attribution.imbalance()).value), 1e-6);
}

// A governor and a temperature move power for seconds, and no kind of operation explains it.
TEST(Deconvolve, TheGateRefusesAModelThatIsWrong) {
    Scenario scenario = unmodelled();
    scenario.duration = Seconds(30);
    const Outcome got = outcome_of(scenario, sensor_models()[1]);
    EXPECT_FALSE(got.fitted.trusted) << got.fitted.verdict;
    EXPECT_NE(got.fitted.verdict.find("goes the same way for seconds"), std::string::npos)
        << got.fitted.verdict;
    EXPECT_NE(got.fitted.next.find("fix the clock"), std::string::npos) << got.fitted.next;
}

TEST(Deconvolve, TheGateRefusesWhatItCannotKnow) {
    Scenario noisy = short_run(10, 4);  // operations drown in noise
    noisy.noise = Watts(2000);
    EXPECT_FALSE(outcome_of(noisy, sensor_models()[2]).fitted.trusted);
    Scenario lossy = short_run(10, 5);  // one event in thirty is missing
    lossy.dropped = 0.03;
    EXPECT_FALSE(outcome_of(lossy, sensor_models()[0]).fitted.trusted);
    const Scenario brief = short_run(0.05, 6);  // a handful of readings
    EXPECT_FALSE(outcome_of(brief, sensor_models()[1]).fitted.trusted);
}

TEST(Selftest, NeverWorseThanOverlapAndTheBooksBalance) {
    const std::vector<Score> scores = selftest(short_run(6, 7));
    ASSERT_EQ(scores.size(), 18U);
    for (std::size_t i = 0; i < scores.size(); i += 3) {
        EXPECT_LE(scores[i + 2].median_error, scores[i + 1].median_error + 1e-12) << scores[i].sensor;
        EXPECT_LT(std::abs(scores[i + 1].imbalance_uj), 1e-9);
        EXPECT_LT(std::abs(scores[i + 2].imbalance_uj), 1.0);
    }
}

// Idle energy, unattributed energy and the meter's own error are known of a synthetic program. Bounds hold
// if the clocks agree: the sensor has no shift here.
TEST(Selftest, FiguresOfADeviceHoldTheTruth) {
    std::map<std::string, int> held, of;
    for (const std::uint64_t seed : {1U, 2U}) {
        Scenario scenario = short_run(8, seed);
        scenario.streams = seed % 2 == 0 ? 2 : 1;
        scenario.shift = Seconds(0);
        for (const Score& score : selftest(scenario, "counter")) {
            const auto count = [&](const std::string& what, bool holds) {
                ++of[what];
                held[what] += holds ? 1 : 0;
            };
            count(score.method + " idle", score.idle_held);
            count(score.method + " unattributed", score.unattributed_held);
            if (score.residual_held) count(score.method + " residual", *score.residual_held);
        }
    }
    EXPECT_EQ(of.size(), 7U);
    for (const auto& [what, count] : of) EXPECT_GE(held[what], count - 1) << what << " of " << count;
}

TEST(Selftest, TruthsOfADeviceAddUp) {
    const SyntheticProgram truth = synthesize(short_run(3, 5));
    const Nanoseconds begin = truth.times.front(), end = truth.times.back();
    const DeviceTruth all = device_truth(truth, begin, end);
    EXPECT_NEAR((all.active + all.idle + all.unattributed).value, truth.cumulative.back(), 1e-6);
    double owned = 0.0;
    for (const Joules energy : truth.energy) owned += energy.value;
    EXPECT_NEAR(all.active.value, owned, 1e-6);
    EXPECT_GT(all.idle.value, 0.0);
    const DeviceTruth none = device_truth(truth, begin, truth.leaves.front().start);
    EXPECT_EQ(none.active.value, 0.0);
    EXPECT_EQ(none.idle.value, 0.0);
}

// Power that rises within long operations, heat and a governor: no fit of watts per kind expresses it.
TEST(Selftest, UnmodelledPowerBalancesAndCostsAccuracy) {
    Scenario scenario = unmodelled();
    scenario.duration = Seconds(20);
    Scenario plain = scenario;
    plain.ramp = plain.governor = 0.0;
    plain.heat = Watts(0);
    const SensorModel counter = sensor_models()[1];
    const Outcome bent = outcome_of(scenario, counter), straight = outcome_of(plain, counter);
    EXPECT_LT(std::abs(joules(bent.fitted.attribution.imbalance()).value), 1e-6);
    EXPECT_LT(straight.median, bent.median);
}

}  // namespace
}  // namespace viridian::account
