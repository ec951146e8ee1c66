// Faults of meters: each is an error or a counted warning, and no joule is counted that nobody measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "viridian/account/account.hpp"
#include "viridian/account/power/power_types.hpp"
#include "viridian/base/random.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::account {
namespace {

constexpr std::int64_t rapl_wrap = 262'143'328'850;
constexpr Nanoseconds poll = 4'000'000;

struct Counter {  // 100 W, read each 4 ms
    meter::Series series{{"powercap", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, rapl_wrap}, {}};
    Nanoseconds time = 1'000'000'000;
    std::int64_t value = 0;
    double drawn = 0.0;  // joules, all that was really used

    void read(int times, double watts = 100.0) {
        for (int i = 0; i < times; ++i) {
            series.readings.push_back({time, value, 0});
            pass(poll, watts);
        }
    }
    void pass(Nanoseconds length, double watts = 100.0) {
        time += length;
        const auto energy = static_cast<std::int64_t>(watts * 1e-3 * static_cast<double>(length));
        drawn += 1e-6 * static_cast<double>(energy);
        value = (value + energy) % rapl_wrap;
    }
    void reset(std::int64_t to = 0) { value = to; }
};

Exact sum_of(const PowerCurve& curve) {
    Exact sum = 0;
    for (const PowerSegment& segment : curve.segments) sum += segment.energy;
    return sum;
}

TEST(MeterFaults, AWrapBetweenCloseReadingsIsAWrap) {
    Counter counter;
    counter.value = rapl_wrap - 5'000'000;
    counter.read(1000);
    const PowerCurve curve = curve_of(counter.series);
    EXPECT_EQ(curve.wraps, 1U);
    EXPECT_EQ(curve.resets, 0U);
    EXPECT_NEAR(joules(curve.total).value, 399.6, 1e-3);
    EXPECT_EQ(sum_of(curve), curve.total);
}

TEST(MeterFaults, AResetIsNoWrapThoughTheWrapIsKnown) {
    Counter counter;
    counter.value = 150'000'000'000;
    counter.read(1000);
    counter.reset();
    counter.read(1000);
    const PowerCurve curve = curve_of(counter.series);
    EXPECT_EQ(curve.wraps, 0U);
    EXPECT_EQ(curve.resets, 1U);
    EXPECT_NEAR(joules(curve.total).value, 2 * 399.6, 1e-3);
    EXPECT_EQ(sum_of(curve), curve.total);
    ASSERT_EQ(curve.warnings.size(), 2U);
    EXPECT_THAT(curve.warnings[0], testing::HasSubstr("not counted"));
}

TEST(MeterFaults, ACounterResetWhileItsMeterIsLostIsNoWrap) {
    for (const std::int64_t before : {1'000'000'000LL, 100'000'000'000LL, 261'000'000'000LL})
        for (const std::int64_t after : {0LL, 500'000'000LL}) {
            Counter counter;
            counter.value = before;
            counter.read(1000);
            counter.pass(60'000'000'000);
            counter.reset(after);
            counter.read(1000);
            const PowerCurve curve = curve_of(counter.series);
            EXPECT_EQ(curve.wraps, 0U) << before;
            EXPECT_EQ(curve.resets, 1U);
            EXPECT_NEAR(joules(curve.total).value, 2 * 399.6, 1e-3);
            EXPECT_LE(joules(curve.total).value, counter.drawn);
        }
}

TEST(MeterFaults, ACounterThatComesBackFarHigherIsAnotherCounter) {
    Counter counter;
    counter.read(1000);
    counter.reset(200'000'000'000);
    counter.read(1000);
    const PowerCurve curve = curve_of(counter.series);
    EXPECT_EQ(curve.resets, 1U);
    EXPECT_NEAR(joules(curve.total).value, 2 * 399.6, 1e-3);
}

TEST(MeterFaults, TwoWrapsInAGapAreALowerBoundAndSaid) {
    Counter counter;
    counter.value = 1'000'000;
    counter.read(1000);
    counter.pass(6'000'000'000'000);  // 600 kJ: round twice, and higher than before
    counter.read(1000);
    const PowerCurve curve = curve_of(counter.series);
    EXPECT_EQ(curve.gaps, 1U);
    EXPECT_LE(joules(curve.total).value, counter.drawn);
    EXPECT_THAT(curve.warnings, testing::Contains(testing::HasSubstr("lower bound")));
}

TEST(MeterFaults, ReadingsTooFarApartForTheWrapBelongToNobody) {
    Counter counter;
    counter.series.channel.wrap_uj = 65'000'000;
    for (int i = 0; i < 50; ++i) {  // 100 J between readings, 65 J a round: 35 J is what one sees
        counter.series.readings.push_back({counter.time, counter.value % 65'000'000, 0});
        counter.pass(1'000'000'000);
    }
    const PowerCurve curve = curve_of(counter.series);
    EXPECT_THAT(curve.warnings, testing::Contains(testing::AnyOf(testing::HasSubstr("more than half"),
                                                                 testing::HasSubstr("not counted"))));
    for (const PowerSegment& segment : curve.segments) EXPECT_TRUE(segment.gap);
    EXPECT_LE(joules(curve.total).value, counter.drawn);
}

TEST(MeterFaults, APowerMeterThatWasLostCountsNothingMeanwhile) {
    meter::Series series{{"nvml", "cuda:0", meter::Scope::gpu, meter::Kind::average_uw, 0}, {}};
    Nanoseconds time = 0;
    for (int i = 0; i < 100; ++i) series.readings.push_back({time += 100'000'000, 300'000'000, 0});
    time += 60'000'000'000;
    for (int i = 0; i < 100; ++i) series.readings.push_back({time += 100'000'000, 300'000'000, 0});
    const PowerCurve curve = curve_of(series);
    EXPECT_EQ(curve.gaps, 1U);
    EXPECT_NEAR(joules(curve.total).value, 30.0 * 99 * 2, 1e-6);
    EXPECT_EQ(sum_of(curve), curve.total);
    EXPECT_THAT(curve.warnings, testing::Contains(testing::HasSubstr("60.1 s without readings")));
}

TEST(MeterFaults, AClockSetBackWithoutANoteMakesNoSpike) {
    std::string text = "# wrap_uj powercap cpu:0 package 262143328850\n";
    text += fmt::format("{}\n", meter::power_log_header);
    std::int64_t value = 0;
    for (int i = 0; i < 4000; ++i) {
        const std::int64_t time = 1'700'000'000'000'000'000 + i * poll - (i > 2000 ? 50'000'000 : 0);
        text += fmt::format("{},powercap,cpu:0,package,energy_uj,{},\n", time, value);
        value += 400'000;
    }
    const auto log = meter::parse_power_log(text, "log");
    ASSERT_TRUE(log.ok()) << log.error().text();
    ASSERT_EQ(log->warnings.size(), 1U);
    const PowerCurve curve = curve_of(log->series[0]);
    EXPECT_NEAR(joules(curve.total).value, 0.4 * 3999, 1e-3);
    for (const PowerSegment& segment : curve.segments) {
        const double watts =
            joules(segment.energy).value / (1e-9 * static_cast<double>(segment.end - segment.begin));
        EXPECT_TRUE(segment.gap || watts < 101.0) << watts;
    }
    EXPECT_EQ(curve.gaps, 1U);
}

// Whatever happens to a counter: what is counted is never more than what was drawn, and books balance.
TEST(MeterFaults, NoHistoryInventsEnergy) {
    Random random(77);
    for (int round = 0; round < 2000; ++round) {
        Counter counter;
        counter.value = random.between(0, rapl_wrap - 1);
        for (int part = 0; part < 6; ++part) {
            const double watts = random.uniform(40.0, 160.0);
            counter.read(static_cast<int>(random.between(30, 200)), watts);
            switch (random.below(5)) {
                case 0:
                    counter.reset(random.between(0, counter.value));
                    break;
                case 1:
                    counter.pass(random.between(1, 200) * 1'000'000'000, watts);
                    break;
                case 2:
                    counter.pass(random.between(1, 200) * 1'000'000'000, watts);
                    counter.reset(random.between(0, counter.value));
                    break;
                case 3:
                    counter.value = rapl_wrap - random.between(1, 40'000'000);  // about to go round
                    counter.series.readings.clear();
                    counter.drawn = 0.0;
                    break;
                default:
                    break;
            }
        }
        counter.read(20);
        const PowerCurve curve = curve_of(counter.series);
        EXPECT_EQ(sum_of(curve), curve.total);
        EXPECT_LE(joules(curve.total).value, counter.drawn + 1.0) << round;
    }
}

// A damaged trace is refused with a next segment, or its books balance to the last unit of the meter.
TEST(TraceFaults, TwoThousandDamagedTracesInventNoJoule) {
    std::string text =
        R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"/job:a/device:CPU:0 Compute"}})";
    for (int i = 0; i < 40; ++i)
        text += fmt::format(
            R"(,{{"ph":"X","cat":"Op","name":"MatMul","pid":1,"tid":{},"ts":{},"dur":900,"args":{{"name":"n/layer_{}/MatMul","op":"MatMul"}}}})",
            i % 2, 1'700'000'000'000'000 + i * 500, i);
    text += "]}";
    meter::PowerLog log;
    log.series.push_back({{"powercap", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, 0}, {}});
    for (int i = 0; i <= 200; ++i)
        log.series[0].readings.push_back({1'699'999'999'900'000'000 + i * 1'000'000LL, i * 100'000LL, 0});
    Random random(11);
    int accounted = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string broken = text;
        for (auto left = 1 + random.below(3); left > 0; --left) {
            const std::size_t at = random.below(broken.size());
            if (random.below(3) == 0)
                broken[at] = static_cast<char>(random.below(256));
            else if (random.below(2) == 0)
                broken.erase(at, 1 + random.below(60));
            else
                broken.insert(at, std::to_string(random.below(1'000'000'000'000)));
        }
        const auto source = trace::open_text(broken, "broken");
        if (!source.ok()) continue;
        const auto got =
            account(**source, log, {.method = round % 2 == 0 ? Method::overlap : Method::recency});
        if (!got.ok()) {
            EXPECT_FALSE(got.error().next_step.empty());
            continue;
        }
        ++accounted;
        for (const Device& device : got->devices) {
            const double total = device.meter_total.value.value, residual = device.residual.value.value;
            if (total == 0) continue;
            double sum = device.idle.value.value + device.unattributed.value.value + residual;
            for (const Operation& operation : got->operations)
                if (operation.device == device.name && operation.energy) {
                    EXPECT_GE(operation.energy->value.value, 0);
                    sum += operation.energy->value.value;
                }
            EXPECT_NEAR(sum, total, 1e-9 + 1e-12 * std::abs(residual));
            EXPECT_NEAR(total, 20.0, 1e-9);
        }
    }
    EXPECT_GT(accounted, 1000);
}

}  // namespace
}  // namespace viridian::account
