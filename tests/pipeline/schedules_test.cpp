#include "viridian/pipeline/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/linear_program.hpp"
#include "tests/pipeline/pipelines.hpp"
#include "viridian/pipeline/memory.hpp"

namespace viridian::pipeline {
namespace {

// Every unit takes the given whole nanoseconds.
Profile flat_profile(int stages, int forward, int backward, int weight = 0) {
    Profile profile;
    profile.stages.resize(static_cast<std::size_t>(stages));
    for (StageProfile& stage : profile.stages) {
        const auto points = [](int ns) {
            return std::vector<Point>{{Hertz(1e9), Seconds(ns * 1e-9), Joules(1e-9)}};
        };
        stage.of(Kind::forward) = points(forward);
        stage.of(Kind::backward) = points(backward);
        if (weight > 0) stage.of(Kind::weight) = points(weight);
        stage.activation = Bytes(10);
        stage.weight_stash = Bytes(5);
    }
    return profile;
}

Nanoseconds makespan(const Schedule& schedule, const Profile& profile) {
    const Network network = tests::network_of(schedule, profile);
    return evaluate(network, fastest_durations(network)).makespan;
}

TEST(Schedules, GPipeAndOneFOneBTakeMPlusKMinusOneSlots) {
    for (const int k : {1, 2, 4, 7})
        for (const int m : {1, 3, 8, 16}) {
            const Profile profile = flat_profile(k, 2, 4);
            EXPECT_EQ(makespan(gpipe(k, m), profile), (m + k - 1) * 6);
            EXPECT_EQ(makespan(one_f_one_b(k, m), profile), (m + k - 1) * 6);
        }
}

TEST(Schedules, OneFOneBHoldsFewerActivations) {
    const Profile profile = flat_profile(4, 1, 2);
    const auto gpipe_memory = memory_of(gpipe(4, 16), profile),
               one_memory = memory_of(one_f_one_b(4, 16), profile);
    for (std::size_t s = 0; s < 4; ++s) {
        EXPECT_EQ(gpipe_memory[s].most_in_flight, 16);
        EXPECT_EQ(one_memory[s].most_in_flight, 4 - static_cast<int>(s));
        EXPECT_EQ(one_memory[s].peak, Bytes(10 * (4 - static_cast<int>(s))));
    }
}

// arXiv:2104.04473 §2.2: the bubble shrinks by the number of chunks.
TEST(Schedules, InterleavedBubbleShrinksByTheChunks) {
    for (const int chunks : {1, 2, 4}) {
        const auto schedule = interleaved(4, chunks, 16);
        ASSERT_TRUE(schedule.ok());
        const Profile profile = flat_profile(4 * chunks, 4 / chunks, 8 / chunks);
        EXPECT_EQ(makespan(*schedule, profile), 16 * 12 + 3 * 12 / chunks) << chunks;
    }
    EXPECT_FALSE(interleaved(4, 2, 10).ok());
}

// arXiv:2401.10241 Table 2, F = B = W = 1: the bubble of H1 is (p - 1)(F + B - W); ranks of H2 never wait
// inside.
TEST(Schedules, ZeroBubble) {
    for (const int p : {2, 4, 8}) {
        const Profile profile = flat_profile(p, 1, 1, 1);
        const int m = 4 * p;
        const Schedule h1 = zero_bubble_h1(p, m), h2 = zero_bubble_h2(p, m);
        EXPECT_EQ(makespan(h1, profile), 3 * m + p - 1) << p;
        const Network network = tests::network_of(h2, profile);
        const Timing timing = evaluate(network, fastest_durations(network));
        EXPECT_EQ(timing.makespan, 3 * m + p - 1) << p;
        for (int r = 0; r < p; ++r) {
            const auto first = static_cast<std::size_t>(network.rank_begin[static_cast<std::size_t>(r)]);
            const auto last =
                static_cast<std::size_t>(network.rank_begin[static_cast<std::size_t>(r) + 1] - 1);
            EXPECT_EQ(timing.start[last] + 1 - timing.start[first], 3 * m) << "rank " << r << " of " << p;
        }
        EXPECT_EQ(memory_of(h2, profile)[0].most_in_flight, 2 * p - 1);
        EXPECT_EQ(memory_of(h1, profile)[0].most_in_flight, p);

        const auto v = zero_bubble_v(p, m);
        ASSERT_TRUE(v.ok());
        EXPECT_EQ(makespan(*v, flat_profile(2 * p, 1, 1, 1)), 6 * m + p - 1) << p;
    }
}

TEST(Schedules, ChimeraHasFewerBubblesThanOneFOneB) {
    for (const int k : {4, 8}) {
        const auto schedule = chimera(k, k);
        ASSERT_TRUE(schedule.ok());
        const Profile profile = flat_profile(k, 1, 2);
        const Nanoseconds work = 3 * k;
        EXPECT_LE(makespan(*schedule, profile) - work, (makespan(one_f_one_b(k, k), profile) - work) * 2 / 3)
            << k;
    }
    EXPECT_FALSE(chimera(3, 4).ok());
}

// arXiv:2412.19437 Table 2: bubble (PP/2 - 1)(F&B + B - 3W), where F&B is the overlapped pair (here F + B +
// W).
TEST(Schedules, DualPipeBubble) {
    for (const int p : {2, 4, 8}) {
        const int m = 4 * p;
        const auto schedule = dual_pipe(p, m);
        ASSERT_TRUE(schedule.ok());
        const Profile profile = flat_profile(p, 1, 1, 1);
        EXPECT_LE(makespan(*schedule, profile), 3 * m + (p / 2 - 1) * (3 + 2 - 3) + p) << p;
        EXPECT_LE(memory_of(*schedule, profile)[0].most_in_flight, p + 1) << p;
    }
    EXPECT_FALSE(dual_pipe(4, 6).ok());
}

TEST(Schedules, ForwardAdvanceFollowsTheFormulaUnderMemory) {
    Profile profile = tests::v100_profile(4);
    // B_max 60 ms, F at least energy (945 MHz) 30·6.488/4.509 = 43.2 ms: r = 4, 2, 1, 0.
    EXPECT_EQ(advance_depths(profile, 16), (std::vector<int>{8, 5, 3, 1}));
    EXPECT_EQ(advance_depths(profile, 5), (std::vector<int>{5, 4, 3, 1}));
    for (StageProfile& stage : profile.stages) stage.activation = Bytes(100), stage.memory = Bytes(550);
    EXPECT_EQ(advance_depths(profile, 16), (std::vector<int>{5, 4, 3, 1}));
}

TEST(Schedules, EveryNameBuildsAndRuns) {
    for (const ScheduleRow& row : schedules()) {
        Profile profile = flat_profile(8, 1, 1, 1);
        profile.all_reduce = Seconds(1e-9);
        const auto schedule = make_schedule(row.name, profile, {.micro_batches = 16});
        ASSERT_TRUE(schedule.ok()) << row.name << ": " << schedule.error().text();
        EXPECT_EQ(schedule->name, row.name);
        EXPECT_GT(makespan(*schedule, profile), 32) << row.name;
    }
    EXPECT_FALSE(make_schedule("2f2b", flat_profile(2, 1, 1), {.micro_batches = 4}).ok());
}

TEST(Schedules, ChunksAreStagesPerRank) {
    const Profile profile = flat_profile(8, 1, 1, 1);
    for (const int chunks : {1, 2, 4, 8}) {
        const auto schedule = make_schedule("interleaved", profile, {.micro_batches = 16, .chunks = chunks});
        ASSERT_TRUE(schedule.ok()) << schedule.error().text();
        EXPECT_EQ(schedule->ranks.size(), static_cast<std::size_t>(8 / chunks));
    }
    EXPECT_EQ(make_schedule("interleaved", profile, {.micro_batches = 16})->ranks.size(), 4U);
    EXPECT_EQ(make_schedule("interleaved", profile, {.micro_batches = 16, .chunks = 3}).error().code,
              ErrorCode::mismatch);
    EXPECT_TRUE(make_schedule("zb-v", profile, {.micro_batches = 16, .chunks = 2}).ok());
    const auto refused = make_schedule("1f1b", profile, {.micro_batches = 16, .chunks = 2});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(
        refused.error().text(),
        "the schedule `1f1b` puts 1 of the model's stages on each rank, not 2. leave --chunks out, or choose "
        "the schedule `interleaved`.");
}

TEST(Schedules, RefusesABillionUnitsAtOnce) {
    const auto schedule = make_schedule("1f1b", flat_profile(4, 1, 1), {.micro_batches = 1'000'000'000});
    ASSERT_FALSE(schedule.ok());
    EXPECT_EQ(schedule.error().code, ErrorCode::limit_exceeded);
}

TEST(Schedules, DeadlockNamesWhoWaitsForWhom) {
    Schedule schedule = one_f_one_b(2, 2);
    std::swap(schedule.ranks[1][0], schedule.ranks[1][1]);  // the backward before its own forward
    const auto network = make_network(schedule, flat_profile(2, 1, 1));
    ASSERT_FALSE(network.ok());
    EXPECT_EQ(network.error().message,
              "the schedule deadlocks: on rank 0, backward 0 of stage 0 waits for backward 0 of stage 1 of "
              "rank 1, which "
              "never runs");
}

TEST(Schedules, MissingAndDoubledUnitsAreNamed) {
    Schedule schedule = one_f_one_b(2, 2);
    schedule.ranks[1].pop_back();
    EXPECT_EQ(make_network(schedule, flat_profile(2, 1, 1)).error().message,
              "backward 1 of stage 1 is missing");
    schedule.ranks[1].push_back({1, 0, Kind::backward});
    EXPECT_EQ(make_network(schedule, flat_profile(2, 1, 1)).error().message,
              "backward 0 of stage 1 appears twice");
}

}  // namespace
}  // namespace viridian::pipeline
