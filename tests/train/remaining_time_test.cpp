#include "viridian/train/loop/remaining_time.hpp"

#include <gtest/gtest.h>

namespace viridian::train {
namespace {

TEST(RemainingTime, CountsStepsAndThePausesOfEpochs) {
    RemainingTime remaining;
    for (int i = 0; i < 10; ++i) remaining.step(Seconds(2));
    EXPECT_DOUBLE_EQ(remaining.of(20, 3).value, 40) << "no epoch has ended, so pauses are not known";
    remaining.pause(Seconds(5));  // a checkpoint
    EXPECT_DOUBLE_EQ(remaining.of(20, 3).value, 40);
    remaining.pause(Seconds(25));  // an evaluation
    remaining.end_epoch();
    EXPECT_DOUBLE_EQ(remaining.of(20, 2).value, 40 + 2 * 30);
    remaining.pause(Seconds(10));
    remaining.end_epoch();
    EXPECT_DOUBLE_EQ(remaining.of(10, 1).value, 20 + 20) << "the mean of both epochs";
    EXPECT_DOUBLE_EQ(remaining.of(0, 0).value, 0);
}

TEST(RemainingTime, FollowsTheLengthOfSteps) {
    RemainingTime remaining;
    remaining.step(Seconds(1));
    remaining.step(Seconds(3));
    EXPECT_DOUBLE_EQ(remaining.of(10, 0).value, 11);
}

}  // namespace
}  // namespace viridian::train
