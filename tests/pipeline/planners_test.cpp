#include "viridian/pipeline/planners/planners.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/pipeline/linear_program.hpp"
#include "tests/pipeline/pipelines.hpp"
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/simulate.hpp"

namespace viridian::pipeline {
namespace {

using tests::network_of;
using tests::v100_profile;

struct Outcome {
    double time, energy;
    int iterations;
};

Outcome run(std::string_view planner, const Schedule& schedule, const Network& network) {
    const Profile none;
    const auto row = find_planner(planner);
    EXPECT_TRUE(row.ok());
    const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
    const auto answer = row->plan({schedule, none, network}, {fastest});
    EXPECT_TRUE(answer.ok());
    const Simulation simulation = simulate(network, answer->assignment);
    return {to_seconds(simulation.timing.makespan).value, simulation.energy().value, answer->iterations};
}

// docs/pipeline.md, "The paper's claims": C2, C3, C4.
TEST(Planners, UniformIsCheapestAndSlowest) {
    const Schedule schedule = one_f_one_b(4, 16);
    const Network network = network_of(schedule, v100_profile(4));
    const Outcome maximum = run("maximum", schedule, network), uniform = run("uniform", schedule, network);
    EXPECT_NEAR(uniform.energy / maximum.energy - 1, -0.202, 0.001);
    EXPECT_NEAR(uniform.time / maximum.time - 1, 0.439, 0.001);
    const Schedule advanced = forward_advance(v100_profile(4), 16);
    const Network envpipe_network = network_of(advanced, v100_profile(4));
    const Outcome unreconfigured = run("norecfg", advanced, envpipe_network);
    EXPECT_GT(unreconfigured.time, maximum.time * 1.3);
}

TEST(Planners, EnvpipeKeepsTheTimeAndExactNeedsLessEnergy) {
    for (const std::vector<double>& scale :
         {std::vector<double>{1, 1, 1, 1}, {1, 1, 1, 1.15}, {1, 1.1, 0.95, 1.2}})
        for (const int micro_batches : {4, 8, 16}) {
            const Profile profile = v100_profile(scale);
            const Schedule schedule = forward_advance(profile, micro_batches);
            const Network network = network_of(schedule, profile);
            const Outcome maximum = run("maximum", schedule, network),
                          exact = run("exact", schedule, network);
            EXPECT_NEAR(exact.time, maximum.time, 1e-12);
            for (const char* name : {"envpipe", "envpipe-greedy", "envpipe-greedy-90"}) {
                const Outcome outcome = run(name, schedule, network);
                if (scale.back() >= 1.15 || scale == std::vector<double>{1, 1, 1, 1}) {
                    EXPECT_NEAR(outcome.time, maximum.time, 1e-9) << name;
                }
                EXPECT_LE(exact.energy, outcome.energy + 1e-9) << name;
                EXPECT_GT(outcome.iterations, 1) << name;
            }
        }
}

TEST(Planners, PerseusPromisesItsTimeOptimistically) {
    const Profile profile = v100_profile({1, 1.07, 0.93, 1});
    const Schedule schedule = one_f_one_b(4, 8);
    const Network network = network_of(schedule, profile);
    const auto exact = exact_frontier(network);
    ASSERT_TRUE(exact.ok());
    for (const double slowdown : {1.0, 1.1, 1.25}) {
        const auto deadline =
            static_cast<Nanoseconds>(static_cast<double>(exact->points.front().time) * slowdown);
        const auto answer = perseus(network, deadline, 1'000'000);
        ASSERT_TRUE(answer.ok());
        const Simulation replay = simulate(network, answer->assignment);
        EXPECT_GE(replay.timing.makespan, exact->points.front().time);
        EXPECT_LE(exact->energy_at(replay.timing.makespan).value, replay.energy().value + 1e-9);
        EXPECT_GE(answer->iterations, 0);
    }
}

// The least energy over all clocks, one per unit, by trying all of them.
double brute_force(const Network& network, Nanoseconds deadline) {
    const std::size_t units = static_cast<std::size_t>(network.size());
    std::vector<int> level(units, 0);
    double best = std::numeric_limits<double>::infinity();
    while (true) {
        const ClockAssignment plan = at_levels(network, level);
        if (evaluate(network, plan.duration).makespan <= deadline)
            best = std::min(best, total_energy(network, plan, deadline).value);
        std::size_t u = 0;
        while (u < units && ++level[u] == static_cast<int>(network.curve(static_cast<int>(u)).points.size()))
            level[u++] = 0;
        if (u == units) return best;
    }
}

TEST(Planners, BruteForceLiesBetweenBoundAndPlan) {
    Random random(3);
    double worst = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const int stages = static_cast<int>(random.between(1, 3));
        const int micro_batches = static_cast<int>(random.between(1, stages == 1 ? 4 : stages == 2 ? 2 : 1));
        const Profile profile =
            tests::random_profile(random, stages, static_cast<int>(random.between(2, 3)), 12);
        const Network network = network_of(tests::random_schedule(random, stages, micro_batches), profile);
        const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
        const Nanoseconds slowest = evaluate(network, slowest_durations(network)).makespan;
        const Nanoseconds deadline = random.between(fastest, slowest);
        const auto plan = whole_clocks(network, deadline);
        ASSERT_TRUE(plan.ok());
        const double least = brute_force(network, deadline);
        const double found = total_energy(network, plan->assignment, deadline).value;
        const double bound = plan->bound->value;
        ASSERT_LE(evaluate(network, plan->assignment.duration).makespan, deadline);
        ASSERT_LE(bound, least * (1 + 1e-9)) << trial;
        ASSERT_LE(least, found * (1 + 1e-9)) << trial;
        worst = std::max(worst, found / least - 1);
    }
    EXPECT_LT(worst, 1.0);  // a heuristic; the gap is what is proven
}

TEST(Planners, WholeClocksOnTheV100StayWithinTwoPercent) {
    const Network network = network_of(one_f_one_b(8, 32), tests::uneven_v100_profile(8, 0.05, 5));
    const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
    for (const double slowdown : {1.0, 1.05, 1.15}) {
        const auto deadline = static_cast<Nanoseconds>(static_cast<double>(fastest) * slowdown);
        const auto plan = whole_clocks(network, deadline);
        ASSERT_TRUE(plan.ok());
        const Simulation replay = simulate(network, plan->assignment, deadline);
        EXPECT_LE(replay.timing.makespan, deadline);
        EXPECT_LT(replay.energy().value / plan->bound->value - 1, 0.02) << slowdown;
    }
}

}  // namespace
}  // namespace viridian::pipeline
