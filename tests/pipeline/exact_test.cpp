#include "viridian/pipeline/exact/exact.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/linear_program.hpp"
#include "tests/pipeline/pipelines.hpp"

namespace viridian::pipeline {
namespace {

using tests::network_of;
using tests::v100_profile;

TEST(Exact, FastestPointIsTheCriticalPathAtFullClocks) {
    const Network network = network_of(one_f_one_b(4, 16), v100_profile(4));
    const auto frontier = exact_frontier(network);
    ASSERT_TRUE(frontier.ok());
    EXPECT_EQ(frontier->points.front().time, 19 * 90'000'000);
    EXPECT_EQ(frontier->points.front().time, evaluate(network, fastest_durations(network)).makespan);
    EXPECT_EQ(frontier->points.back().time, evaluate(network, slowest_durations(network)).makespan);
    EXPECT_EQ(frontier->certified, static_cast<std::int64_t>(frontier->points.size()));
}

// Balanced stages without communication leave plain 1F1B almost nothing at unchanged time.
TEST(Exact, BalancedOneFOneBSavesLittleAtFullSpeed) {
    const Network network = network_of(one_f_one_b(4, 16), v100_profile(4));
    const auto frontier = exact_frontier(network);
    ASSERT_TRUE(frontier.ok());
    double energy = 0;
    for (int u = 0; u < network.size(); ++u)
        energy +=
            (network.curve(u).energy(0) - network.curve(u).wait * to_seconds(network.curve(u).fastest()))
                .value;
    const double maximum = energy + 200 * 19 * 0.09;
    EXPECT_NEAR(1 - frontier->energy(frontier->points.front()).value / maximum, 0.0278, 0.0002);
}

TEST(Exact, FrontierIsConvexAndFallsToItsCheapestPoint) {
    Random random(7);
    for (int trial = 0; trial < 200; ++trial) {
        const int stages = static_cast<int>(random.between(1, 5)),
                  micro_batches = static_cast<int>(random.between(1, 6));
        const Network network = network_of(tests::random_schedule(random, stages, micro_batches),
                                           tests::random_profile(random, stages, 4, 15));
        const auto frontier = exact_frontier(network);
        ASSERT_TRUE(frontier.ok());
        const auto& points = frontier->points;
        EXPECT_EQ(frontier->certified, static_cast<std::int64_t>(points.size()));
        for (std::size_t i = 1; i < points.size(); ++i) {
            EXPECT_LT(points[i - 1].time, points[i].time);
            EXPECT_GT(points[i - 1].cost, points[i].cost);
            if (i + 1 < points.size()) {
                EXPECT_GT(points[i].slope, points[i + 1].slope);
            }
        }
        const std::size_t best = frontier->cheapest();
        for (const FrontierPoint& p : points)
            EXPECT_GE(frontier->energy(p).value, frontier->energy(points[best]).value * (1 - 1e-12));
    }
}

// The same linear programme handed to LEMON's network simplex.
TEST(Exact, AgreesWithAnIndependentMinimumCostFlow) {
    Random random(11);
    for (int trial = 0; trial < 300; ++trial) {
        const int stages = static_cast<int>(random.between(1, 5)),
                  micro_batches = static_cast<int>(random.between(1, 6));
        const Network network = network_of(tests::random_schedule(random, stages, micro_batches),
                                           tests::random_profile(random, stages, 5, 20));
        const auto frontier = exact_frontier(network);
        ASSERT_TRUE(frontier.ok());
        const Nanoseconds fastest = frontier->points.front().time, slowest = frontier->points.back().time;
        const Nanoseconds deadline = random.between(fastest, slowest);
        const auto plan = exact_plan(network, deadline);
        ASSERT_TRUE(plan.ok());
        EXPECT_EQ(to_text(plan->certificate.primal), to_text(tests::least_cost_by_lemon(network, deadline)));
        EXPECT_LE(evaluate(network, plan->duration).makespan, deadline);
        const double promised = frontier->energy_at(deadline).value;
        EXPECT_NEAR(
            promised,
            to_joules(plan->certificate.primal).value + (frontier->total_wait * to_seconds(deadline)).value,
            1e-9 * (1 + promised));
    }
}

TEST(Exact, RefusesADeadlineBelowTheFastest) {
    const Network network = network_of(one_f_one_b(2, 3), v100_profile(2));
    const auto plan = exact_plan(network, 1000);
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(plan.error().next_step.find("0.36 s or more"), std::string::npos) << plan.error().next_step;
}

TEST(Exact, CertificateRefusesAWrongPlan) {
    const Network network = network_of(one_f_one_b(3, 4), v100_profile(3));
    auto plan = exact_plan(network);
    ASSERT_TRUE(plan.ok());
    FlowSolution broken = plan->solution;
    broken.finish[0] -= 1;  // shorter than its fastest clock, or dearer than needed
    EXPECT_FALSE(certify(network, broken).proves_optimal());
    broken = plan->solution;
    broken.from_source[0] += 1;
    EXPECT_FALSE(certify(network, broken).proves_optimal());
}

}  // namespace
}  // namespace viridian::pipeline
