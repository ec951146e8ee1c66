#include "viridian/meter/curve/renewal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "viridian/base/random.hpp"
#include "viridian/meter/curve/power_curve.hpp"

namespace viridian::meter {
namespace {

constexpr Nanoseconds zero = 1'795'288'860'000'000'000;
constexpr double period = 20'000'300;

struct Recording {
    std::vector<Bracket> brackets;
    std::vector<Nanoseconds> truth;  // the last renewal before each bracket's end
};

// A counter that is renewed in a beat, or `jitter` nanoseconds beside it, and a reader that comes about every
// 2 ms and is stopped for up to 60 ms now and then.
Recording record(double jitter, Random& random) {
    std::vector<Nanoseconds> renewed;
    for (int k = 0; k < 3000; ++k)
        renewed.push_back(zero + std::llround(period * k + jitter * random.normal()));
    std::ranges::sort(renewed);
    Recording out;
    Nanoseconds at = zero;
    std::ptrdiff_t seen = 0;
    while (at < renewed.back()) {
        const double stopped = random.chance(0.01) ? random.uniform(0, 60e6) : 0;
        const Nanoseconds then =
            at + std::llround(1.9e6 - 0.5e6 * std::log(random.uniform(1e-9, 1)) + stopped);
        const std::ptrdiff_t now = std::ranges::upper_bound(renewed, then) - renewed.begin();
        if (now > seen) {
            out.brackets.push_back({at, then});
            out.truth.push_back(renewed[static_cast<std::size_t>(now - 1)]);
        }
        at = then, seen = now;
    }
    return out;
}

double median_error(const std::vector<Nanoseconds>& times, const std::vector<Nanoseconds>& truth) {
    EXPECT_EQ(times.size(), truth.size());
    std::vector<double> errors;
    for (std::size_t i = 0; i < times.size(); ++i)
        errors.push_back(std::abs(static_cast<double>(times[i] - truth[i])));
    std::ranges::sort(errors);
    return errors[errors.size() / 2];
}

TEST(RenewalTimes, ABeatIsFoundToAFractionOfTheTimeBetweenReadings) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Random random(seed);
        const Recording recording = record(0, random);
        const RenewalTimes found = renewal_times(recording.brackets);
        ASSERT_TRUE(found.period.has_value()) << seed;
        EXPECT_NEAR(*found.period, period, 100) << seed;
        EXPECT_LT(median_error(found.times, recording.truth), 50e3) << seed;
        EXPECT_TRUE(std::ranges::is_sorted(found.times)) << seed;
    }
}

TEST(RenewalTimes, WithoutABeatTheyLieInTheirBrackets) {
    for (const double jitter : {1e6, 8e6}) {
        Random random(3);
        const Recording recording = record(jitter, random);
        const RenewalTimes found = renewal_times(recording.brackets);
        EXPECT_FALSE(found.period.has_value()) << jitter;
        EXPECT_LT(median_error(found.times, recording.truth), 1.2e6) << jitter;
    }
}

TEST(RenewalTimes, FewOrEqualBracketsGiveATimeEach) {
    EXPECT_TRUE(renewal_times({}).times.empty());
    const std::vector<Bracket> one = {{1, 3}};
    EXPECT_EQ(renewal_times(one).times, std::vector<Nanoseconds>{2});
    const std::vector<Bracket> equal(40, Bracket{5, 5});
    EXPECT_EQ(renewal_times(equal).times, std::vector<Nanoseconds>(40, 5));
}

// 10 W, then 30 W from a renewal on. Readings every 4 ms would put the step up to 4 ms late.
TEST(RenewalTimes, ACurveHasTheStepWhereTheCounterHadIt) {
    Series series{{"fake", "cuda:0", Scope::gpu, Kind::energy_uj, 0}, {}, {}};
    const auto energy = [](Nanoseconds time) {  // microjoules, renewed every 20 ms
        const Nanoseconds renewed = time / 20'000'000 * 20'000'000, step = 2'000'000'000;
        return (10 * renewed + 20 * std::max<Nanoseconds>(0, renewed - step)) / 1000;
    };
    Random random(1);
    for (Nanoseconds time = 0; time < 4'000'000'000; time += 4'000'000 + random.between(0, 400'000))
        series.readings.push_back({zero + time, energy(time), 0});
    const PowerCurve curve = curve_of(series);
    for (const PowerSegment& segment : curve.segments) {
        const double watts =
            joules(segment.energy).value / (1e-9 * static_cast<double>(segment.end - segment.begin));
        const double expected = segment.end <= zero + 2'001'000'000 ? 10 : 30;
        EXPECT_NEAR(watts, expected, 0.1 * expected) << segment.end - zero;
    }
    EXPECT_EQ(curve.total, exact_microjoules(series.readings.back().value - energy(20'000'000)));
}

}  // namespace
}  // namespace viridian::meter
