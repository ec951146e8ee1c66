#include "viridian/meter/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/model.hpp"
#include "viridian/meter/meters/replay.hpp"

namespace viridian::meter {
namespace {

// A counter that moves with each read; fails when told to.
struct Simulated {
    std::shared_ptr<std::atomic<int>> reads = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<bool>> broken = std::make_shared<std::atomic<bool>>(false);
    Meter meter() const {
        Meter made{"simulated", {{"simulated", "cpu:0", Scope::package, Kind::energy_uj, 0}}, {}};
        made.read = [reads = reads, broken = broken](std::vector<Sample>& samples) -> Result<void> {
            if (*broken) return fail(ErrorCode::device_failed, "wait", "the simulated meter is broken");
            const Stamp now = stamp_now();
            samples.push_back({0, now.time_ns, now.monotonic_ns, ++*reads * 1000, 0});
            return {};
        };
        return made;
    }
};

TEST(Sampler, HandsOnEveryReadAndOneMoreAtTheEnd) {
    const Simulated simulated;
    std::vector<std::int64_t> values;
    Sampler sampler({simulated.meter()}, {.period = Seconds(0.001), .max_share = 1.0},
                    [&](const auto&, std::span<const Sample> samples) {
                        for (const Sample& sample : samples) values.push_back(sample.value);
                    });
    while (*simulated.reads < 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const SamplerStats stats = sampler.stop();
    EXPECT_EQ(values.size(), stats.meters[0].reads);
    EXPECT_EQ(static_cast<int>(values.size()), *simulated.reads);
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i], static_cast<std::int64_t>(1000 * (i + 1)));
}

TEST(Sampler, AMeterThatVanishesIsNotedOnceAndFoundAgain) {
    const Simulated simulated;
    std::vector<std::string> notes;
    std::mutex mutex;
    const auto count = [&](std::string_view word) {
        const std::lock_guard lock(mutex);
        return std::count_if(notes.begin(), notes.end(),
                             [&](const std::string& note) { return note.starts_with(word); });
    };
    Sampler sampler({simulated.meter()}, {.period = Seconds(0.0005), .max_share = 1.0}, {},
                    [&](std::string_view note) {
                        const std::lock_guard lock(mutex);
                        notes.emplace_back(note);
                    });
    while (*simulated.reads < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *simulated.broken = true;
    while (count("lost") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (sampler.stats().meters[0].failures < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *simulated.broken = false;
    while (count("found") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sampler.stop();
    EXPECT_EQ(count("lost"), 1);
    EXPECT_EQ(count("found"), 1);
    EXPECT_EQ(count("monotonic_offset_ns"), 1);
}

TEST(Sampler, MetersComeAndGoAndBoundsAreReadAtOnce) {
    const Simulated first, second;
    std::vector<std::int64_t> values;
    Sampler sampler({first.meter()}, {.period = Seconds(3600), .max_share = 1.0}, {});
    const auto number = sampler.add(second.meter(), [&](const auto&, std::span<const Sample> samples) {
        for (const Sample& sample : samples) values.push_back(sample.value);
    });
    EXPECT_EQ(values, (std::vector<std::int64_t>{1000}));
    sampler.read_now();
    EXPECT_EQ(values, (std::vector<std::int64_t>{1000, 2000}));
    EXPECT_EQ(sampler.stats().meters.size(), 2U);
    sampler.remove(number);
    sampler.read_now();
    EXPECT_EQ(values.size(), 2U);
    EXPECT_EQ(sampler.stats().meters.size(), 1U);
    sampler.pace(Seconds(0.0005));
    const int before = *first.reads;
    while (*first.reads < before + 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The second sampler serves as a clock: its readings are 0.1 s apart.
TEST(Sampler, TheFirstMeterThatComesIsReadAtItsOwnPace) {
    const Simulated first, seldom;
    Sampler sampler({}, {.period = Seconds(0.0005), .max_share = 1.0}, {});
    sampler.add(first.meter(), {});
    const Sampler clock({seldom.meter()}, {.period = Seconds(0.1), .max_share = 1.0}, {});
    while (*seldom.reads < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(*first.reads, 2);
}

TEST(Sampler, NoMeterIsReadMoreOftenThanTellsAnything) {
    const Simulated fast, slow;
    Meter seldom = slow.meter();
    seldom.shortest = Seconds(10.0);
    Sampler sampler({fast.meter(), seldom}, {.period = Seconds(0.0005), .max_share = 1.0}, {});
    while (*fast.reads < 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_LE(*slow.reads, 1);
    const SamplerStats stats = sampler.stop();
    EXPECT_GE(stats.meters[1].period.value, 10.0);
    EXPECT_EQ(stats.meters[1].reads, 2U);  // and once more at the end
}

TEST(Measure, PowerMetersAreIntegrated) {
    Meter constant{"constant", {{"constant", "cuda:0", Scope::gpu, Kind::power_uw, 0}}, {}};
    constant.read = [](std::vector<Sample>& samples) -> Result<void> {
        const Stamp now = stamp_now();
        samples.push_back({0, now.time_ns, now.monotonic_ns, 250'000'000, 0});
        return {};
    };
    const auto result = measure(constant, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_NEAR(result->energy.value.value, 250.0 * result->seconds.value, 1e-6 * result->energy.value.value);
    EXPECT_LT(result->energy.low, result->energy.value);
    EXPECT_FALSE(measure(constant, [] {}, std::vector<std::string>{"cuda:7"}).ok());
}

TEST(Measure, ACounterThatGoesRoundTwiceIsReadMeanwhile) {
    std::atomic<std::int64_t> energy{0}, reads{0};
    Meter meter{.name = "powercap",
                .channels = {{"powercap", "cpu:0", Scope::package, Kind::energy_uj, 4'000'000}},
                .read = [&](std::vector<Sample>& samples) -> Result<void> {
                    const Stamp now = stamp_now();
                    samples.push_back({0, now.time_ns, now.monotonic_ns, energy % 4'000'000, 0});
                    ++reads;
                    return {};
                }};
    const auto result = measure(meter, [&] {
        for (int i = 0; i < 10; ++i) {
            energy += 1'000'000;
            for (const std::int64_t seen = reads; reads < seen + 2;) std::this_thread::yield();
        }
    });
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_DOUBLE_EQ(result->energy.value.value, 10.0);  // both ends alone say 2 J
}

TEST(Model, IsEstimatedAndCountsIdleTime) {
    const auto meter = open_model({});
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    const auto result = measure(*meter, [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(result->energy.provenance.text(), "estimated:model-cpu-linear");
    EXPECT_GT(result->energy.value.value, 0.0);
}

TEST(Replay, GivesEveryReadingOnce) {
    PowerLog log;
    log.series.push_back({{"powercap", "cpu:0", Scope::package, Kind::energy_uj, 0}, {}});
    for (int i = 0; i < 50; ++i) log.series[0].readings.push_back({1'000'000 + i * 100'000, i, 0});
    const Meter meter = replay(log);
    std::vector<Sample> samples;
    while (samples.size() < 50) ASSERT_TRUE(meter.read(samples).ok());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(samples[static_cast<std::size_t>(i)].value, i);
    ASSERT_TRUE(meter.read(samples).ok());
    EXPECT_EQ(samples.size(), 50U);
}

TEST(List, UnknownMetersAreRefusedByName) {
    const auto meter = open("thermometer");
    ASSERT_FALSE(meter.ok());
    EXPECT_NE(meter.error().next_step.find("powercap"), std::string::npos);
}

}  // namespace
}  // namespace viridian::meter
