#include "viridian/meter/monitor/totals.hpp"

#include <gtest/gtest.h>

#include "viridian/base/random.hpp"

namespace viridian::meter {
namespace {

constexpr std::int64_t second = 1'000'000'000;

Totals one_channel(Kind kind, std::int64_t wrap = 0) {
    Totals totals;
    const std::vector<Channel> channels = {{"powercap", "cpu:0", Scope::package, kind, wrap}};
    totals.add_channels(channels);
    return totals;
}

void take(Totals& totals, std::int64_t time, std::int64_t value) {
    const Sample sample{0, time, time, value, 0};
    totals.take(0, {&sample, 1});
}

double microjoules_at(const Totals& totals, std::int64_t time) {
    return 1e6 * joules(totals.at(time)[0].energy).value;
}

TEST(Totals, CountersGoRoundAndNothingIsLost) {
    Random random(7);
    Totals totals = one_channel(Kind::energy_uj, 999'999);
    std::int64_t truth = 0, start = 123'456;
    for (int i = 0; i < 5000; ++i) {
        take(totals, i * second / 2000, (start + truth) % 999'999);
        truth += static_cast<std::int64_t>(random.below(450'000));
    }
    take(totals, 5 * second / 2, (start + truth) % 999'999);
    EXPECT_EQ(microjoules(totals.at(3 * second)[0].energy), truth);
    EXPECT_EQ(totals.at(3 * second)[0].doubts, 0U);
}

TEST(Totals, ResetsAndSilencesThatMayHideAWrapAreDoubts) {
    Totals totals = one_channel(Kind::energy_uj);
    take(totals, 0, 5'000'000);
    take(totals, second, 6'000'000);
    take(totals, 2 * second, 100);  // no wrap is known: a reset
    take(totals, 3 * second, 1'000'100);
    EXPECT_DOUBLE_EQ(microjoules_at(totals, 3 * second), 2e6);
    EXPECT_EQ(totals.at(3 * second)[0].doubts, 1U);

    Totals wraps = one_channel(Kind::energy_uj, 262'143'328'850);
    take(wraps, 0, 0);
    take(wraps, second, 200'000'000);           // 200 W
    take(wraps, 100 * second, 20'000'000'000);  // 1 kW would go round in 262 s: fine
    EXPECT_EQ(wraps.at(100 * second)[0].doubts, 0U);
    take(wraps, 500 * second, 20'000'000'001);
    EXPECT_EQ(wraps.at(500 * second)[0].doubts, 1U);
}

TEST(Totals, AResetIsNoWrapThoughTheWrapIsKnown) {
    Totals totals = one_channel(Kind::energy_uj, 262'143'328'850);
    take(totals, 0, 100'000'000'000);
    take(totals, second, 100'100'000'000);  // 100 W
    take(totals, 2 * second, 1'000'000);    // a wrap would mean 162 kJ in a second
    take(totals, 3 * second, 101'000'000);
    EXPECT_DOUBLE_EQ(microjoules_at(totals, 3 * second), 200e6);
    EXPECT_EQ(totals.at(3 * second)[0].doubts, 1U);
    take(totals, 4 * second, 200'101'000'000);  // another counter: no device draws 200 kW
    EXPECT_DOUBLE_EQ(microjoules_at(totals, 4 * second), 200e6);
    EXPECT_EQ(totals.at(4 * second)[0].doubts, 2U);
}

TEST(Totals, PowersAreIntegratedAndHeldToTheBound) {
    Totals instant = one_channel(Kind::power_uw), average = one_channel(Kind::average_uw);
    for (Totals* totals : {&instant, &average}) {
        take(*totals, 0, 100'000'000);
        take(*totals, second, 300'000'000);
    }
    EXPECT_DOUBLE_EQ(microjoules_at(instant, second), 200e6);
    EXPECT_DOUBLE_EQ(microjoules_at(average, second), 300e6);
    EXPECT_DOUBLE_EQ(microjoules_at(instant, 2 * second), 500e6);
    EXPECT_EQ(instant.at(2 * second)[0].doubts, 0U);
    EXPECT_EQ(instant.at(60 * second)[0].doubts, 1U);  // nobody knows
    take(instant, 60 * second, 300'000'000);
    EXPECT_DOUBLE_EQ(microjoules_at(instant, 60 * second), 200e6);
}

}  // namespace
}  // namespace viridian::meter
