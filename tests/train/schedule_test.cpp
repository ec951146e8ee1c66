#include "viridian/train/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace viridian::train {
namespace {

std::vector<double> factors(std::string_view text, const RunLength& run, std::vector<std::int64_t> steps) {
    const auto schedule = parse_schedule(text);
    EXPECT_TRUE(schedule.ok()) << schedule.error().text();
    std::vector<double> factors;
    for (const std::int64_t step : steps) factors.push_back(schedule->factor(step, run));
    return factors;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], wanted[i], 1e-12 * std::max(1.0, std::abs(wanted[i]))) << i;
}

std::string refusal(std::string_view text) {
    const auto schedule = parse_schedule(text);
    return schedule.ok() ? "accepted" : schedule.error().text();
}

constexpr RunLength ten = {.steps = 10, .steps_per_epoch = 2};

TEST(Schedule, StaysConstantAfterTheWarmUp) {
    expect_near(factors("constant", ten, {0, 5, 100}), {1, 1, 1});
    expect_near(factors("constant:warmup=4", ten, {0, 1, 2, 3, 4, 9}), {0, 0.25, 0.5, 0.75, 1, 1});
    expect_near(factors("constant:warmup=2e,warmup-from=0.2", ten, {0, 1, 2, 3, 4}), {0.2, 0.4, 0.6, 0.8, 1});
}

TEST(Schedule, StepAndMultiStepMultiply) {
    expect_near(factors("step:every=3", ten, {0, 2, 3, 5, 6, 9}), {1, 1, 0.1, 0.1, 0.01, 0.001});
    expect_near(factors("step:every=2e,factor=0.5", ten, {0, 3, 4, 8}), {1, 1, 0.5, 0.25});
    expect_near(factors("multi-step:at=3/1e/3e", ten, {0, 1, 2, 3, 5, 6}), {1, 1, 0.1, 0.01, 0.01, 0.001});
    expect_near(factors("multi-step:at=2,warmup=4", ten, {1, 2, 4}), {0.25, 0.05, 0.1});
}

TEST(Schedule, LinearPolynomialAndCosineEndAtTheirFinalValue) {
    expect_near(factors("linear", ten, {0, 1, 5, 10, 11}), {1, 0.9, 0.5, 0, 0});
    expect_near(factors("linear:initial=0.5,final=0.1", ten, {0, 5, 10}), {0.5, 0.3, 0.1});
    expect_near(factors("polynomial:power=2", ten, {0, 5, 9, 10}), {1, 0.25, 0.01, 0});
    expect_near(factors("polynomial:power=3,final=0.2", ten, {0, 5, 10}), {1, 0.3, 0.2});
    expect_near(factors("cosine", ten, {0, 5, 10, 12}), {1, 0.5, 0, 0});
    // A third of half a wave: cos(π/3) is 1/2.
    expect_near(factors("cosine:final=0.2", {.steps = 9, .steps_per_epoch = 1}, {3}), {0.2 + 0.8 * 0.75});
    // Hugging Face's get_cosine_schedule_with_warmup: the wave begins where the warm-up ends.
    expect_near(factors("cosine:warmup=4", ten, {2, 4, 7, 10}), {0.5, 1, 0.5, 0});
    expect_near(factors("linear:warmup=4", ten, {2, 4, 7, 10}), {0.5, 1, 0.5, 0});
}

TEST(Schedule, ExponentialIsThatOfPyTorchAtEveryEpoch) {
    expect_near(factors("exponential:factor=0.25", ten, {0, 1, 2, 4}), {1, 0.5, 0.25, 0.0625});
    expect_near(factors("exponential:factor=0.9,every=1", ten, {0, 2}), {1, 0.81});
}

// The rates that torch.optim.lr_scheduler.OneCycleLR's formula gives with max_lr 1 and total_steps 20: the
// rise ends at step 0.3·20 − 1 = 5, the fall at step 19.
TEST(Schedule, OneCycleHasPyTorchsDefaults) {
    const RunLength run = {.steps = 20, .steps_per_epoch = 1};
    const auto annealed = [](double from, double to, double part) {
        return to + (from - to) / 2 * (1 + std::cos(std::acos(-1.0) * part));
    };
    expect_near(factors("one-cycle", run, {0, 1, 5, 12, 19}),
                {0.04, annealed(0.04, 1, 0.2), 1, annealed(1, 4e-6, 0.5), 4e-6});
    EXPECT_NEAR(factors("one-cycle", run, {12})[0], 0.500002, 1e-12);
    // 0.25·10 − 1 = 1.5 is no whole step: the fall is measured from there.
    expect_near(factors("one-cycle:rise=0.25,initial=0.1,final=0", ten, {1, 2, 9}),
                {annealed(0.1, 1, 1 / 1.5), annealed(1, 0, 0.5 / 7.5), 0});
    for (const std::string_view edge : {"one-cycle:rise=0", "one-cycle:rise=1", "one-cycle:rise=0.5"})
        for (const std::int64_t steps : {1, 2, 3})
            for (std::int64_t step = 0; step < steps; ++step) {
                const double factor = factors(edge, {.steps = steps, .steps_per_epoch = 1}, {step})[0];
                EXPECT_TRUE(factor >= 4e-6 && factor <= 1) << edge << " step " << step << " of " << steps;
            }
}

TEST(Schedule, SaysWhetherItFollowsTheLengthOfTheRun) {
    for (const ScheduleRow& row : schedule_rows()) {
        const auto schedule = parse_schedule(row.example);
        ASSERT_TRUE(schedule.ok());
        bool differs = false;
        for (std::int64_t step = 0; step < 900; ++step)
            differs = differs || schedule->factor(step, {.steps = 900, .steps_per_epoch = 10}) !=
                                     schedule->factor(step, {.steps = 1800, .steps_per_epoch = 10});
        EXPECT_EQ(differs, row.follows_length) << row.name;
    }
}

TEST(Schedule, IsWrittenAsItIsRead) {
    for (const ScheduleRow& row : schedule_rows()) {
        const auto schedule = parse_schedule(row.example);
        ASSERT_TRUE(schedule.ok()) << schedule.error().text();
        EXPECT_TRUE(parse_schedule(schedule->text()).value() == *schedule) << schedule->text();
        for (const std::int64_t step : {0, 1, 7, 1000}) {
            const double factor = schedule->factor(step, {.steps = 1000, .steps_per_epoch = 10});
            EXPECT_TRUE(factor >= 0 && factor <= 1) << row.name;
        }
    }
    EXPECT_EQ(parse_schedule("cosine")->text(), "cosine:final=0,warmup=0,warmup-from=0");
    EXPECT_EQ(parse_schedule("multi-step:at=10/2.5e")->text(),
              "multi-step:at=10/2.5e,factor=0.1,warmup=0,warmup-from=0");
}

TEST(Schedule, RefusesWhatItDoesNotKnow) {
    EXPECT_EQ(
        refusal("cosin"),
        "`cosin` is not a learning-rate schedule. choose one of constant, step, multi-step, linear, cosine, "
        "one-cycle, polynomial, exponential.");
    EXPECT_EQ(
        refusal("cosine:end=0"),
        "the schedule `cosine` has no option `end=0`. its options are final, warmup, warmup-from, as in "
        "cosine:final=0.01,warmup=5e.");
    EXPECT_NE(refusal("cosine:"), "accepted");
    EXPECT_NE(refusal("cosine:final"), "accepted");
    EXPECT_EQ(refusal("cosine:final=0,final=1"), "the schedule has the option `final` twice. write it once.");
    EXPECT_EQ(refusal("cosine:final=-1"),
              "`final=-1` is not a value of that option. write a number from 0 to 1000.");
    EXPECT_EQ(refusal("cosine:final=nan"),
              "`final=nan` is not a value of that option. write a number from 0 to 1000.");
    EXPECT_EQ(refusal("step"),
              "the schedule `step` needs the option `every`. write it as in "
              "step:every=30e,factor=0.1.");
    for (const std::string_view text :
         {"step:every=0", "step:every=1.5", "step:every=x", "step:every=", "step:every=5ee",
          "step:every=1e99", "multi-step:at=", "multi-step:at=1/", "multi-step:at=1//2", "one-cycle:warmup=3",
          "cosine:final=5e", "exponential:factor=1.1", "", ":"})
        EXPECT_NE(refusal(text), "accepted") << text;
    EXPECT_EQ(refusal("step:every=1.5"),
              "`every=1.5` is not a length. write steps such as 1000, or epochs such as 5e.");
}

}  // namespace
}  // namespace viridian::train
