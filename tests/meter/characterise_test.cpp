#include "viridian/meter/characterise/characterise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "viridian/base/random.hpp"

namespace viridian::meter {
namespace {

using testing::HasSubstr;

constexpr std::int64_t zero = 1'700'000'000'000'000'000;
constexpr double idle = 70.0, full = 430.0;

// A load that steps at several paces, and its joules at any time.
struct Program {
    std::vector<LoadStep> steps;
    double seconds = 0.0;

    explicit Program(Random& random) {
        add(0.0, 3.0);
        for (const double period : {0.02, 0.05, 0.1, 0.25, 0.6, 1.5, 3.0})
            for (double t = 0.0; t < 5.0;) {
                const double on = period * (0.3 + 0.7 * random.uniform()),
                             off = period * (0.3 + 0.7 * random.uniform());
                add(1.0, on);
                add(0.0, off);
                t += on + off;
            }
        add(1.0, 3.0);
        add(0.0, 1.0);
    }
    void add(double load, double duration) {
        steps.push_back({zero + std::llround(seconds * 1e9), load});
        seconds += duration;
    }
    [[nodiscard]] double joules(double time) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double from = 1e-9 * static_cast<double>(steps[i].time_ns - zero);
            const double to =
                i + 1 < steps.size() ? 1e-9 * static_cast<double>(steps[i + 1].time_ns - zero) : 1e9;
            if (from >= time) break;
            sum += (idle + steps[i].load * (full - idle)) * (std::min(to, time) - from);
        }
        return time < 0.0 ? idle * time : sum;
    }
};

struct Sensor {
    double period, window, lag;  // s; window 0: a counter
    bool stamps_renewal = true;
};

// Asked about every millisecond, sometimes much later, as on a busy machine.
ProbeLog play(const Program& program, const Sensor& sensor, Random& random) {
    ProbeLog log;
    log.begin_ns = zero;
    log.end_ns = zero + std::llround(program.seconds * 1e9);
    const bool counter = sensor.window == 0.0;
    ProbeField& field = log.fields.emplace_back();
    field.channel = {"nvml:x", "cuda:0", Scope::gpu, counter ? Kind::energy_uj : Kind::average_uw, 0};
    double asked = 0.0, last_stamp = -1.0;
    std::vector<std::pair<double, std::int64_t>> renewed;  // memory of the sensor
    for (double t = 0.0021; t < program.seconds;) {
        const double stamp = std::floor(t / sensor.period) * sensor.period;
        if (renewed.empty() || renewed.back().first != stamp) {
            const double end = stamp - sensor.lag;
            const double value =
                counter ? 1e6 * std::floor(program.joules(end) * 1e3) * 1e-3 + 5e9
                        : 1e6 * ((program.joules(end) - program.joules(end - sensor.window)) / sensor.window +
                                 0.2 * random.normal());
            renewed.emplace_back(stamp, std::llround(value));
        }
        ++field.reads;
        const double shown = sensor.stamps_renewal ? stamp : t;
        if (shown != last_stamp) ++field.stamps;
        last_stamp = shown;
        const std::int64_t seen = zero + std::llround((t + 2e-5) * 1e9);
        if (field.readings.empty() || field.readings.back().value != renewed.back().second)
            field.readings.push_back({seen, zero + std::llround(asked * 1e9),
                                      zero + std::llround(shown * 1e9), renewed.back().second});
        asked = t;
        t += 0.001 * (0.9 + 0.2 * random.uniform()) + (random.uniform() < 0.002 ? 0.015 : 0.0);
    }
    return log;
}

TEST(Characterise, FindsPeriodWindowAndLagOfManySensors) {
    Random random(7);
    const Program program(random);
    for (const Sensor& sensor :
         {Sensor{0.1, 0.025, 0.03}, Sensor{0.02, 1.0, 0.015}, Sensor{0.1, 0.1, 0.0},
          Sensor{0.02, 0.02, 0.004, false}, Sensor{0.1, 0.5, 0.06, false}, Sensor{0.05, 0.005, 0.12},
          Sensor{0.02, 0.0, 0.01}, Sensor{0.1, 0.0, 0.03, false}}) {
        SCOPED_TRACE(fmt::format("{} {} {}", sensor.period, sensor.window, sensor.lag));
        const ProbeLog log = play(program, sensor, random);
        const auto fields = characterise(log, program.steps);
        ASSERT_TRUE(fields.ok()) << fields.error().text();
        const FieldCharacter& found = fields->front();
        EXPECT_EQ(found.stamp, sensor.stamps_renewal ? StampKind::renewal : StampKind::asking);
        ASSERT_TRUE(found.renewals.has_value());
        EXPECT_NEAR(1e-9 * found.renewals->period_ns, sensor.period, 0.002 * sensor.period);
        EXPECT_FALSE(found.renewals->limited);
        EXPECT_NEAR(found.response.lag, sensor.lag, 0.001);
        EXPECT_LE(found.response.lag_low, found.response.lag);
        EXPECT_GT(found.response.explained, 0.99);
        EXPECT_NEAR(found.idle_watts, idle, 1.0);
        EXPECT_NEAR(found.response.full, full, 4.0);
        if (sensor.window > 0.0) {
            EXPECT_EQ(found.response.shape, Shape::mean);
            EXPECT_NEAR(found.response.window, sensor.window, 0.001 + 0.01 * sensor.window);
        } else {
            EXPECT_EQ(found.resolution_uj % 1000, 0);
        }
    }
}

TEST(Characterise, ACounterThatRunsFastIsFound) {
    Random random(3);
    const Program program(random);
    ProbeLog log = play(program, {0.02, 0.0, 0.0}, random);
    for (ProbeReading& reading : log.fields[0].readings) reading.value += reading.value / 20;  // 5 %
    ProbeLog power = play(program, {0.02, 0.02, 0.0}, random);
    power.fields[0].channel.meter = "nvml:average";
    log.fields.push_back(power.fields[0]);
    const auto fields = characterise(log, program.steps);
    ASSERT_TRUE(fields.ok());
    EXPECT_NEAR((*fields)[1].counter_ratio, 1.0 / 1.05, 0.005);
    EXPECT_EQ((*fields)[0].counter_ratio, 0.0);
}

TEST(Characterise, SaysNothingOfAValueThatNeverChanges) {
    Random random(5);
    const Program program(random);
    ProbeLog log = play(program, {0.1, 0.1, 0.0}, random);
    log.fields[0].readings.resize(1);
    const auto fields = characterise(log, program.steps);
    ASSERT_TRUE(fields.ok());
    EXPECT_FALSE(fields->front().renewals.has_value());
    EXPECT_EQ(fields->front().response.explained, 0.0);
    log.begin_ns += 1'000'000'000'000;
    log.end_ns += 1'000'000'000'000;
    EXPECT_EQ(characterise(log, program.steps).error().code, ErrorCode::mismatch);
}

TEST(ProbeLog, ReadsBackWhatItWritesAndRefusesTheRest) {
    Random random(5);
    const Program program(random);
    const ProbeLog log = play(program, {0.1, 0.1, 0.0}, random);
    const auto back = parse_probe_log(text_of(log), "x");
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(back->fields[0].readings, log.fields[0].readings);
    EXPECT_EQ(back->fields[0].channel, log.fields[0].channel);
    EXPECT_EQ(back->end_ns, log.end_ns);
    EXPECT_THAT(parse_probe_log("time_ns\n", "x").error().message, HasSubstr("line 1 of `x`"));
    EXPECT_FALSE(parse_probe_log("", "x").ok());
    EXPECT_FALSE(parse_probe_log(text_of(log) + "1,2,3,0,5\n", "x").ok());  // back in time
    EXPECT_FALSE(parse_probe_log(text_of(log) + "9000000000000000000,0,0,9,5\n", "x").ok());
    EXPECT_TRUE(parse_load("time_ns,load\n5,0\n6,1\n", "x").ok());
    EXPECT_FALSE(parse_load("time_ns,load\n5,0\n6,2\n", "x").ok());
    EXPECT_FALSE(parse_load("time_ns,load\n5,0\n5,1\n", "x").ok());
}

}  // namespace
}  // namespace viridian::meter
