#include "viridian/profile/measure_runs.hpp"

#include <gtest/gtest.h>

namespace viridian::profile {
namespace {

TEST(TimeSlice, ADisturbanceCountsByTheTimeItTook) {
    TimeSlice slice;
    EXPECT_EQ(slice.lost_share(), 0);
    slice.undisturbed = {1, 1, 1, 1, 1};
    EXPECT_EQ(slice.lost_share(), 0);
    slice.disturbed = {1, 1, 1};  // a processor was taken in three of eight runs, for no time to speak of
    EXPECT_EQ(slice.lost_share(), 0);
    slice.disturbed = {1, 1, 3};
    EXPECT_DOUBLE_EQ(slice.lost_share(), 2.0 / 10);
    slice.disturbed = {0.5, 1, 3};  // none gives back what another took
    EXPECT_DOUBLE_EQ(slice.lost_share(), 2.0 / 9.5);
}

TEST(TimeSlice, TheShortestRunStandsForUndisturbedOnes) {
    TimeSlice slice;
    slice.disturbed = {2, 1, 5};
    EXPECT_DOUBLE_EQ(slice.lost_share(), 5.0 / 8);
}

}  // namespace
}  // namespace viridian::profile
