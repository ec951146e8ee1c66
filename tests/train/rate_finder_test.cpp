#include "viridian/train/rate_finder.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "viridian/base/random.hpp"

namespace viridian::train {
namespace {

// A loss that falls from 2.3 to 0.3 around `middle`, fastest there, and explodes above `edge`.
double loss_at(double rate, double middle, double edge) {
    const double fall = 2 / (1 + std::exp(-3 * std::log(rate / middle)));
    return 2.3 - fall + std::pow(rate / edge, 4);
}

std::vector<RateTrial> range_test(const RateRange& range, double middle, double edge, double noise,
                                  std::uint64_t seed = 5) {
    Random random(seed);
    std::vector<RateTrial> trials;
    for (std::int64_t i = 0; i < range.steps; ++i) {
        const double rate = trial_rate(range, i);
        trials.push_back({rate, loss_at(rate, middle, edge) + noise * random.normal()});
        if (has_diverged(trials)) break;
    }
    return trials;
}

TEST(RateFinder, RatesGrowExponentially) {
    const RateRange range = {.lowest = 1e-4, .highest = 1, .steps = 5};
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(trial_rate(range, i) * 1e4, std::pow(10, i), 1e-9 * std::pow(10, i));
}

TEST(RateFinder, SuggestsTheSteepestDescent) {
    for (const double noise : {0.0, 0.02})
        for (const double middle : {1e-4, 1e-3, 1e-2}) {
            const auto trials = range_test({}, middle, 1, noise);
            EXPECT_LT(trials.size(), 100U);  // it stopped when the loss exploded
            EXPECT_TRUE(has_diverged(trials));
            const auto found = find_rate(trials);
            ASSERT_TRUE(found.ok()) << found.error().text();
            EXPECT_GT(found->suggested, middle / 2) << noise;
            EXPECT_LT(found->suggested, middle * 2) << noise;
            EXPECT_GT(found->least, found->suggested);
            EXPECT_LT(found->least, 1);
            EXPECT_TRUE(found->diverged);
        }
}

// Losses of small batches differ by 0.1 and more, at rates that change nothing too.
TEST(RateFinder, NoiseIsNoDescent) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto found = find_rate(range_test({}, 1e-2, 1, 0.15, seed));
        ASSERT_TRUE(found.ok()) << seed << found.error().text();
        EXPECT_GT(found->suggested, 1e-2 / 4) << seed;
        EXPECT_LT(found->suggested, 1e-2 * 4) << seed;
    }
    int suggestions = 0;  // where the loss is nothing but noise
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        if (find_rate(range_test({.lowest = 1e-7, .highest = 1e-5}, 1e3, 1e3, 0.15, seed)).ok())
            ++suggestions;
    EXPECT_LE(suggestions, 10);
}

TEST(RateFinder, StopsAtALossThatIsNoNumber) {
    auto trials = range_test({.steps = 60}, 1e-3, 1e9, 0);
    EXPECT_FALSE(has_diverged(trials));
    EXPECT_FALSE(find_rate(trials)->diverged);
    const double before = find_rate(trials)->suggested;
    for (const double loss : {std::nan(""), HUGE_VAL}) {
        auto more = trials;
        more.push_back({20, loss});
        EXPECT_TRUE(has_diverged(more));
        EXPECT_TRUE(find_rate(more)->diverged);
        EXPECT_EQ(find_rate(more)->suggested, before);
    }
}

TEST(RateFinder, RefusesWhatShowsNoRate) {
    const auto refusal = [](const std::vector<RateTrial>& trials) {
        const auto found = find_rate(trials);
        return found.ok() ? "accepted" : found.error().message;
    };
    EXPECT_EQ(refusal({}), "only 0 of 0 losses came before the divergence; a rate can be found from 10");
    std::vector<RateTrial> rising, flat;
    for (std::int64_t i = 0; i < 20; ++i) {
        rising.push_back(
            {trial_rate({.lowest = 1e-3, .highest = 1, .steps = 20}, i), 1 + 0.01 * static_cast<double>(i)});
        flat.push_back({rising.back().rate, 1});
    }
    EXPECT_EQ(refusal(rising), "at no rate from 0.001 to 1 the loss falls by more than its noise");
    EXPECT_EQ(refusal(flat), "at no rate from 0.001 to 1 the loss falls by more than its noise");
    rising[9].loss = std::nan("");
    EXPECT_EQ(refusal(rising), "only 9 of 20 losses came before the divergence; a rate can be found from 10");
}

}  // namespace
}  // namespace viridian::train
