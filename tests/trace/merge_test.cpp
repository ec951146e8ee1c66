#include "viridian/trace/join/merge.hpp"

#include <gtest/gtest.h>

#include "viridian/base/random.hpp"

namespace viridian::trace {
namespace {

// Nested operators in two threads, at random times; the same names and thread numbers whatever the seed.
Collected process(std::uint64_t seed) {
    Random random(seed);
    Collected made;
    made.about.format = "test";
    made.about.source = fmt::format("trace {}", seed);
    for (const std::int64_t thread : {1, 2}) {
        const LaneId lane = made.about.lane(made.about.device("cpu:0"), 1, thread);
        Nanoseconds time = 1'000'000 + static_cast<Nanoseconds>(random.below(1000));
        for (int i = 0; i < 500; ++i) {
            Event outer;
            outer.lane = lane;
            outer.name = outer.type = made.about.names.add(fmt::format("outer{}", random.below(5)));
            outer.start = time;
            outer.end = time + 100 + static_cast<Nanoseconds>(random.below(100));
            Event inner = outer;
            inner.name = inner.type = made.about.names.add(fmt::format("inner{}", random.below(5)));
            inner.start += 10;
            inner.end -= 10;
            made.events.push_back(outer);
            made.events.push_back(inner);
            time = outer.end + static_cast<Nanoseconds>(random.below(50));
        }
    }
    return made;
}

std::unique_ptr<Source> source(std::uint64_t seed) {
    Collected made = process(seed);
    return from_memory(std::move(made.about), std::move(made.events));
}

// Describes an event by its times and names, without the numbers that a trace gives to names, threads and
// types.
std::string text(const Event& event, const Trace& about, const std::string& parent) {
    return fmt::format("{} {} {} {} thread {} in {}", event.start, event.end, about.qualified(event.path),
                       about.names[event.type], about.lanes[event.lane].thread, parent);
}

std::vector<std::string> texts(const Collected& trace, std::uint32_t part) {
    std::map<InstanceId, std::string> names;
    std::vector<std::string> found;
    for (const Event& event : trace.events) {
        if (trace.about.part(event.lane) != part) continue;
        EXPECT_TRUE(names.emplace(event.instance, trace.about.names[event.name]).second);
        found.push_back(text(event, trace.about, event.parent == 0 ? "" : names.at(event.parent)));
    }
    return found;
}

TEST(Merge, EveryPartIsWholeAndAllAreInOrder) {
    std::vector<Part> parts;
    for (const std::uint64_t seed : {1, 2, 3})
        parts.push_back({fmt::format("rank {}", seed - 1), source(seed)});
    const Collected all = collect(*merged(std::move(parts))).value();
    EXPECT_EQ(all.about.processes, (std::vector<std::string>{"rank 0", "rank 1", "rank 2"}));
    EXPECT_EQ(all.about.events, 6000U);
    EXPECT_EQ(all.about.source, "trace 1, trace 2, trace 3");
    EXPECT_EQ(all.about.devices, std::vector<std::string>{"cpu:0"});
    EXPECT_EQ(all.about.lanes.size(), 6U);  // equal numbers of threads do not make one lane
    ASSERT_EQ(all.events.size(), 6000U);
    for (std::size_t i = 1; i < all.events.size(); ++i)
        EXPECT_FALSE(earlier(all.events[i], all.events[i - 1]));
    std::set<InstanceId> instances;
    for (const Event& event : all.events) instances.insert(event.instance);
    EXPECT_EQ(instances.size(), 6000U);
    for (const std::uint32_t part : {0U, 1U, 2U}) {
        const Collected alone = collect(*source(part + 1)).value();
        EXPECT_EQ(texts(all, part), texts(alone, 0));
        EXPECT_EQ(all.about.process(all.events[0].lane).substr(0, 5), "rank ");
    }
}

TEST(Merge, RelativeTimesCannotBePutInOrder) {
    std::vector<Part> parts;
    for (const std::uint64_t seed : {1, 2}) {
        Collected made = process(seed);
        if (seed == 2) made.about.clock.zero = Clock::Zero::unknown;
        parts.push_back({"rank", from_memory(std::move(made.about), std::move(made.events))});
    }
    const Result<Collected> all = collect(*merged(std::move(parts)));
    ASSERT_FALSE(all.ok());
    EXPECT_EQ(all.error().code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace viridian::trace
