// Timelines: the power that counts, the joules of events, and a file that is still a trace.
#include "viridian/account/products/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "viridian/account/account.hpp"
#include "viridian/base/json.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::account {
namespace {

constexpr Nanoseconds beginning = 1'700'000'000'000'000'000;

// 100 W for half a second, then 300 W for another, a reading each 10 ms, of a package with its dram.
meter::PowerLog two_powers() {
    meter::PowerLog log;
    for (const meter::Scope scope : {meter::Scope::package, meter::Scope::dram, meter::Scope::core}) {
        meter::Series series{{"powercap", "cpu:0", scope, meter::Kind::energy_uj, 0}, {}};
        std::int64_t microjoules = 0;
        for (int i = 0; i <= 100; ++i) {
            series.readings.push_back({beginning + i * 10'000'000LL, microjoules, 0});
            microjoules += i < 50 ? 1'000'000 : 3'000'000;
        }
        log.series.push_back(series);
    }
    return log;
}

struct Recorded {
    trace::Trace about;
    std::vector<trace::Event> events;
    void add(const char* name, int start_ms, int end_ms, trace::Pass pass) {
        trace::Event event;
        event.start = beginning + start_ms * 1'000'000LL;
        event.end = beginning + end_ms * 1'000'000LL;
        event.name = about.names.add(name);
        event.device = about.device("cpu:0");
        event.lane = about.lane(event.device, 1, 1);
        event.pass = pass;
        events.push_back(event);
    }
};

TEST(Timeline, TracksAreThePowerThatCounts) {
    const std::vector<trace::CounterTrack> tracks = power_tracks(two_powers());
    ASSERT_EQ(tracks.size(), 2U);  // a core's joules are part of its package's
    EXPECT_EQ(tracks[0].unit, "W");
    EXPECT_THAT(tracks[0].name, testing::HasSubstr("cpu:0 package power (measured:powercap)"));
    ASSERT_FALSE(tracks[0].points.empty());
    EXPECT_NEAR(tracks[0].points.front().second, 100.0, 1e-9);
    EXPECT_NEAR(tracks[0].points.back().second, 300.0, 1e-9);
}

TEST(Timeline, EventsHaveTheJoulesOfTheirOperationAndPass) {
    const meter::PowerLog log = two_powers();
    Recorded made;  // in 200 W, dram included
    made.add("matmul", 100, 110, trace::Pass::forward);
    made.add("matmul", 120, 150, trace::Pass::forward);
    made.add("matmul", 200, 210, trace::Pass::backward);
    made.add("idle_mark", 300, 300, trace::Pass::unknown);
    made.events.back().kind = trace::Kind::marker;
    const auto accounted = account(*trace::from_memory(made.about, made.events), log);
    ASSERT_TRUE(accounted.ok()) << accounted.error().text();
    const auto read = trace::collect(*trace::from_memory(made.about, made.events));
    const auto microjoules = microjoules_of(*accounted, read->about);
    EXPECT_NEAR(microjoules(read->events[0]), 4e6, 1.0);  // 8 J of two calls
    EXPECT_NEAR(microjoules(read->events[1]), 4e6, 1.0);
    EXPECT_NEAR(microjoules(read->events[2]), 2e6, 1.0);
    EXPECT_LT(microjoules(read->events[3]), 0.0);

    const viridian::tests::TemporaryFolder folder;
    const Path file = folder / "timeline.json.gz";
    ASSERT_TRUE(write_timeline(*trace::from_memory(made.about, made.events), log, *accounted, file).ok());
    const auto again = trace::open(file.string());
    ASSERT_TRUE(again.ok());
    const auto events = trace::collect(**again);
    ASSERT_TRUE(events.ok());
    EXPECT_EQ(events->events.size(), 4U + 2U * 100U);  // and the tracks, as counters
    const auto nowhere = write_timeline(*trace::from_memory(made.about, made.events), log, *accounted,
                                        "/nonexistent/timeline.json");
    EXPECT_FALSE(nowhere.ok());
}

}  // namespace
}  // namespace viridian::account
