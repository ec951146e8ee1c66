#include "viridian/pipeline/simulate.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/linear_program.hpp"
#include "tests/pipeline/pipelines.hpp"
#include "viridian/pipeline/critical_path.hpp"
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {
namespace {

using tests::network_of;
using tests::v100_profile;

TEST(Simulate, EnergyIsUnitsPlusWaiting) {
    const Network network = network_of(one_f_one_b(4, 16), v100_profile(4));
    const ClockAssignment plan = at_levels(network, maximum_levels(network));
    const Simulation s = simulate(network, plan);
    EXPECT_NEAR(s.waiting.value, 4 * 50 * 3 * 0.09, 1e-9);  // every rank waits (K - 1)(F + B)
    EXPECT_NEAR(s.units.value, 4 * 16 * 0.09 * 186.1, 1e-6);
    EXPECT_NEAR(s.energy().value, total_energy(network, plan, s.timing.makespan).value, 1e-9);
    for (const Seconds busy : s.busy) EXPECT_NEAR(busy.value, 16 * 0.09, 1e-12);
}

// ENVPIPE Figure 2: in GPipe every bubble but those of nobody's slack is unusable; 1F1B has usable ones.
TEST(Simulate, UsableBubblesOfGPipeAndOneFOneB) {
    const auto usable = [](const Schedule& schedule) {
        const Network network = network_of(schedule, v100_profile(4));
        double time = 0, all = 0;
        for (const Bubbles& b : simulate(network, at_levels(network, maximum_levels(network))).bubbles) {
            time += b.usable_time.value;
            all += b.usable_time.value + b.unusable_time.value;
        }
        EXPECT_NEAR(all, 4 * 3 * 0.09, 1e-9);
        return time;
    };
    EXPECT_NEAR(usable(gpipe(4, 4)), 0, 1e-9);
    EXPECT_GT(usable(one_f_one_b(4, 4)), 0.1);
}

// C1: the envelope is a critical path of balanced 1F1B, but not the only one.
TEST(Simulate, TheEnvelopeIsOneOfSeveralCriticalPaths) {
    const Schedule schedule = one_f_one_b(4, 16);
    const Network network = network_of(schedule, v100_profile(4));
    const auto duration = fastest_durations(network);
    const Timing timing = evaluate(network, duration);
    const auto outside = envelope(schedule, network);
    const auto room = slack(network, duration, timing);
    for (std::size_t u = 0; u < room.size(); ++u) {
        if (outside[u] != 0) {
            EXPECT_EQ(room[u], 0);
        }
    }
    for (const int u : walk_back(network, duration, timing)) EXPECT_EQ(room[static_cast<std::size_t>(u)], 0);
    const auto critical = std::count(room.begin(), room.end(), 0);
    EXPECT_GT(critical, std::count(outside.begin(), outside.end(), 1));
}

TEST(Simulate, SlackIsWhatAUnitMayTakeAlone) {
    Random random(5);
    for (int trial = 0; trial < 100; ++trial) {
        const Network network =
            network_of(tests::random_schedule(random, 3, 4), tests::random_profile(random, 3, 3, 9));
        auto duration = fastest_durations(network);
        const Timing timing = evaluate(network, duration);
        const auto room = slack(network, duration, timing);
        const auto u = static_cast<std::size_t>(random.below(duration.size()));
        duration[u] += room[u];
        EXPECT_EQ(evaluate(network, duration).makespan, timing.makespan);
        duration[u] += 1;
        EXPECT_EQ(evaluate(network, duration).makespan, timing.makespan + 1);
    }
}

// The judged line: no slowdown in the simulator, below 1 % under 2 % jitter.
TEST(Simulate, PlansSurviveJitter) {
    for (const Schedule& schedule : {one_f_one_b(4, 16), forward_advance(v100_profile(4), 16)})
        for (const char* name : {"exact", "envpipe", "envpipe-greedy"}) {
            const Network network = network_of(schedule, v100_profile(4));
            const auto row = find_planner(name);
            ASSERT_TRUE(row.ok());
            const auto answer = row->plan({schedule, v100_profile(4), network}, {});
            ASSERT_TRUE(answer.ok());
            const ClockAssignment maximum = at_levels(network, maximum_levels(network));
            EXPECT_EQ(evaluate(network, answer->assignment.duration).makespan,
                      evaluate(network, maximum.duration).makespan);
            const Disturbance jitter{0.02, 100, 1, {}};
            const DisturbedRun run = simulate_disturbed(network, answer->assignment, jitter);
            const DisturbedRun full = simulate_disturbed(network, maximum, jitter);
            EXPECT_LT(run.mean / full.mean - 1, 0.01) << name << " on " << schedule.name;
            EXPECT_LT(run.energy, full.energy);
        }
}

TEST(Simulate, JitterIsSeededAndStragglersSlow) {
    const Network network = network_of(one_f_one_b(3, 6), v100_profile(3));
    const ClockAssignment plan = at_levels(network, maximum_levels(network));
    const DisturbedRun a = simulate_disturbed(network, plan, {0.05, 20, 9, {}});
    EXPECT_EQ(a.mean, simulate_disturbed(network, plan, {0.05, 20, 9, {}}).mean);
    EXPECT_NE(a.mean, simulate_disturbed(network, plan, {0.05, 20, 10, {}}).mean);
    const DisturbedRun slow = simulate_disturbed(network, plan, {0, 1, 1, {1, 1.5, 1}});
    EXPECT_GE(slow.mean.value, 6 * 0.135 + 0.09);  // its own work, and one pass through the other ranks
    EXPECT_LE(slow.mean.value, 6 * 0.135 + 2 * 0.09);
}

}  // namespace
}  // namespace viridian::pipeline
