#include "viridian/trace/join/nest.hpp"

#include <gtest/gtest.h>

#include "viridian/base/random.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::trace {
namespace {

// The parent by definition: of the earlier events of the lane that enclose this one, the one that comes last.
InstanceId parent_by_search(const std::vector<Event>& events, std::size_t of) {
    const Event& child = events[of];
    for (std::size_t i = of; i-- > 0;) {
        const Event& one = events[i];
        if (one.lane == child.lane && one.kind < Kind::marker && one.end > one.start &&
            one.end > child.start && one.end >= child.end)
            return one.instance;
    }
    return 0;
}

TEST(Nest, FindsTheInnermostEnclosingEventHoweverTheyOverlap) {
    Random random(17);
    for (int round = 0; round < 300; ++round) {
        Trace about;
        const DeviceId cpu = about.device("cpu:0");
        about.lane(cpu, 0, 0), about.lane(cpu, 0, 1);
        std::vector<Event> events(1 + random.below(60));
        for (Event& event : events) {
            event.start = random.between(0, 40);
            event.end = event.start + random.between(0, 20);
            event.lane = static_cast<LaneId>(random.below(2));
            event.kind = random.chance(0.2) ? Kind::module : Kind::operation;
            event.name = about.names.add(std::to_string(random.below(9)));
        }
        const Collected trace = collect(*from_memory(about, events)).value();
        for (std::size_t i = 0; i < trace.events.size(); ++i) {
            const Event& event = trace.events[i];
            ASSERT_EQ(event.parent, parent_by_search(trace.events, i)) << event.start << " " << event.end;
            ASSERT_EQ(event.depth, event.parent == 0 ? 0U : trace.events[event.parent - 1].depth + 1);
            ASSERT_EQ(trace.about.paths.depth(event.path), event.depth + 1);
        }
    }
}

TEST(Nest, OverlappingChainsAndTowersTakeLinearTime) {
    Trace about;
    about.lane(about.device("cpu:0"), 0, 0);
    std::vector<Event> events(300'000);
    for (std::size_t i = 0; i < events.size(); ++i) {  // all open at once, none inside another
        events[i].start = static_cast<Nanoseconds>(i);
        events[i].end = static_cast<Nanoseconds>(i + 1'000'000);
        events[i].name = about.names.add("x");
    }
    const Collected trace = collect(*from_memory(about, events)).value();
    EXPECT_EQ(trace.events.back().parent, 0U);
}

}  // namespace
}  // namespace viridian::trace
