#include "viridian/pipeline/runnable.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/pipelines.hpp"

namespace viridian::pipeline {
namespace {

TEST(Runnable, EverySchedule) {
    const Profile profile = [] {
        Profile made = tests::v100_profile(4);
        for (StageProfile& stage : made.stages) stage.of(Kind::weight) = stage.of(Kind::forward);
        return made;
    }();
    for (const ScheduleRow& row : schedules()) {
        const auto schedule = make_schedule(row.name, profile, {.micro_batches = 8, .chunks = 0});
        ASSERT_TRUE(schedule.ok()) << row.name << ": " << schedule.error().text();
        const auto runnable = check_runnable(*schedule);
        EXPECT_TRUE(runnable.ok()) << row.name << ": " << runnable.error().text();
    }
}

// Two neighbours are exchanged: the order runs unless a unit comes before one that it needs.
TEST(Runnable, ExchangedNeighbours) {
    Random random(5);
    int refused = 0, kept = 0;
    for (int trial = 0; trial < 500; ++trial) {
        Schedule schedule = one_f_one_b(3, 4);
        auto& rank = schedule.ranks[random.below(3)];
        const std::size_t i = random.below(rank.size() - 1);
        const bool own_data = rank[i].kind == Kind::forward && rank[i + 1].kind == Kind::backward &&
                              rank[i].micro_batch == rank[i + 1].micro_batch;
        std::swap(rank[i], rank[i + 1]);
        const auto runnable = check_runnable(schedule);
        if (own_data) {
            EXPECT_FALSE(runnable.ok());
        }
        if (!runnable.ok()) {
            EXPECT_NE(runnable.error().message.find("deadlocks"), std::string::npos);
        }
        (runnable.ok() ? kept : refused) += 1;
    }
    EXPECT_GT(refused, 50);
    EXPECT_GT(kept, 50);
}

TEST(Runnable, ClaimsOfMillionsAreRefusedAtOnce) {
    Schedule schedule = one_f_one_b(2, 1);
    schedule.stages = 10'000'000;
    EXPECT_EQ(check_runnable(schedule).error().message, "the schedule has 10000000 stages and 4 units");
    schedule.micro_batches = 10'000'000;
    EXPECT_EQ(check_runnable(schedule).error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace viridian::pipeline
