#include "viridian/base/system/disturbance.hpp"

#include <gtest/gtest.h>

namespace viridian {
namespace {

TEST(Disturbance, WorkForWhichOthersStoodInIsDisturbed) {
    const Disturbance disturbance;
    add_stand_in(std::chrono::milliseconds(4));
    EXPECT_FALSE(disturbance.none(0.079));
    for (int i = 0; i < 10'000; ++i)
        if (Disturbance().none(0)) return;  // other processes may take the processor now and then
    FAIL() << "nothing happened meanwhile, ten thousand times";
}

}  // namespace
}  // namespace viridian
