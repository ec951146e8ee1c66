#include "viridian/train/log/curve.hpp"

#include <gtest/gtest.h>

#include "viridian/base/json.hpp"

namespace viridian::train {
namespace {

StepRecord record(std::int64_t step, bool metered = true) {
    StepRecord made;
    made.step = step;
    made.loss = static_cast<double>(step);
    made.rate = 2 * static_cast<double>(step);
    made.seconds = Seconds(0.5);
    made.samples = 3;
    if (metered)
        made.energy = Energy{Joules(2), Joules(1), Joules(4), {Provenance::Kind::estimated, "model"}};
    return made;
}

TEST(Curve, KeepsSumsAndMeansInBoundedMemory) {
    Curve curve(8);
    constexpr std::int64_t steps = 1000;
    for (std::int64_t step = 1; step <= steps; ++step) curve.add(record(step));
    EXPECT_LE(curve.points().size(), 8U);
    EXPECT_GE(curve.points().size(), 4U);
    std::int64_t counted = 0, samples = 0, last = 0;
    double loss = 0, joules = 0, high = 0, seconds = 0;
    for (const CurvePoint& point : curve.points()) {
        EXPECT_EQ(point.step, last + point.steps);  // no step is left out or counted twice
        EXPECT_NEAR(point.loss, static_cast<double>(last + 1 + point.step) / 2, 1e-9);
        EXPECT_NEAR(point.rate, 2 * point.loss, 1e-9);
        last = point.step;
        counted += point.steps;
        samples += point.samples;
        seconds += point.seconds.value;
        loss += point.loss * static_cast<double>(point.steps);
        joules += point.energy->value.value;
        high += point.energy->high.value;
    }
    EXPECT_EQ(counted, steps);
    EXPECT_EQ(samples, 3 * steps);
    EXPECT_NEAR(loss, steps * (steps + 1) / 2.0, 1e-6);
    EXPECT_NEAR(seconds, 0.5 * steps, 1e-9);
    EXPECT_NEAR(joules, 2.0 * steps, 1e-9);
    EXPECT_NEAR(high, 4.0 * steps, 1e-9);
}

TEST(Curve, JoulesThatAreNotKnownAreNotGuessed) {
    Curve curve(2);
    for (std::int64_t step = 1; step <= 4; ++step) curve.add(record(step, step != 2));
    const Json json = to_json(curve);
    ASSERT_EQ(json.size(), 2U);
    EXPECT_TRUE(json[0]["joules"].is_null());
    EXPECT_EQ(json[1]["joules"]["value"], 4);
    EXPECT_EQ(json[1]["joules"]["provenance"], "estimated:model");
}

}  // namespace
}  // namespace viridian::train
