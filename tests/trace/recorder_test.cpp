#include "viridian/trace/record/recorder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace viridian::trace {
namespace {

TEST(Recorder, EventsComeBackInTimeOrderWithUnixTimes) {
    Recorder recorder(2, 8);
    const NameId conv = recorder.about().names.add("conv1");
    const NameId relu = recorder.about().names.add("relu1");
    const auto before = std::chrono::system_clock::now().time_since_epoch();
    const auto a = Recorder::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const auto b = Recorder::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto c = Recorder::now();
    recorder.record(1, relu, b, c);
    recorder.record(0, conv, a, b);
    const auto after = std::chrono::system_clock::now().time_since_epoch();

    auto trace = collect(*recorder.finish());
    ASSERT_TRUE(trace.ok());
    ASSERT_EQ(trace->events.size(), 2U);
    const Event& first = trace->events[0];
    EXPECT_EQ(trace->about.names[first.name], "conv1");
    EXPECT_EQ(trace->about.qualified(first.path), "conv1");
    EXPECT_EQ(trace->events[1].lane, 1U);
    EXPECT_GE(first.start, std::chrono::nanoseconds(before).count() - 100'000);
    EXPECT_LE(trace->events[1].end, std::chrono::nanoseconds(after).count() + 100'000);
    EXPECT_GE(first.duration(), 2'990'000);  // sleeps are never shorter
    EXPECT_EQ(first.end, trace->events[1].start);
}

TEST(Recorder, AFullBufferLosesEventsAndSaysHowMany) {
    Recorder recorder(1, 2);
    const NameId name = recorder.about().names.add("x");
    for (int i = 0; i < 5; ++i) recorder.record(0, name, 10, 20);
    auto trace = collect(*recorder.finish());
    EXPECT_EQ(trace->events.size(), 2U);
    EXPECT_EQ(trace->about.lost_events, 3U);
    ASSERT_EQ(trace->about.warnings.size(), 1U);
    recorder.clear();
    EXPECT_EQ(collect(*recorder.finish())->events.size(), 0U);
}

TEST(Recorder, NestedEventsGetParentsAndPaths) {
    Recorder recorder(1, 8);
    Trace& about = recorder.about();
    const NameId layer = about.names.add("layer"), matmul = about.names.add("matmul");
    const auto a = Recorder::now();
    recorder.record(0, matmul, a + 1000, a + 2000);
    recorder.record(0, layer, a, a + 5'000, 0, Kind::module);
    auto trace = collect(*recorder.finish());
    ASSERT_EQ(trace->events.size(), 2U);
    EXPECT_EQ(trace->events[1].parent, trace->events[0].instance);
    EXPECT_EQ(trace->about.qualified(trace->events[1].path), "layer/matmul");
    EXPECT_EQ(trace->about.qualified(trace->events[1].scope), "layer");
}

}  // namespace
}  // namespace viridian::trace
