// Switch prices, order search, tying, power caps: plans that are compared with a bound instead of being
// called exact.
#include <gtest/gtest.h>

#include "tests/pipeline/linear_program.hpp"
#include "tests/pipeline/pipelines.hpp"
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/order_search.hpp"
#include "viridian/pipeline/planners/power_cap.hpp"
#include "viridian/pipeline/planners/switching.hpp"
#include "viridian/pipeline/planners/tied.hpp"
#include "viridian/pipeline/simulate.hpp"

namespace viridian::pipeline {
namespace {

using tests::network_of;
using tests::v100_profile;

TEST(Switching, MeetsTheDeadlineAndChangesLessOftenWhenChangesAreDear) {
    const Network network = network_of(one_f_one_b(4, 16), tests::uneven_v100_profile(4, 0.1, 3));
    const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
    const Nanoseconds deadline = fastest + fastest / 10;
    double energy_before = 0;
    std::int64_t changes_before = 1 << 20;
    for (const Nanoseconds latency : {Nanoseconds{0}, Nanoseconds{1'000'000}, Nanoseconds{10'000'000}}) {
        const SwitchPrice price{latency, Joules(static_cast<double>(latency) * 2e-7), 2 * latency};
        const auto plan = plan_with_switches(network, deadline, price);
        ASSERT_TRUE(plan.ok()) << plan.error().text();
        ClockAssignment assignment = plan->assignment;
        const std::int64_t changes = price_switches(network, assignment, price);
        EXPECT_LE(evaluate(network, assignment.duration, assignment.gap).makespan, deadline);
        const double energy = total_energy(network, assignment, deadline).value;
        EXPECT_LE(plan->bound->value, energy * (1 + 1e-9));
        EXPECT_FALSE(plan->exact);
        EXPECT_LE(changes, changes_before);
        EXPECT_GE(energy * (1 + 1e-3), energy_before);
        changes_before = changes;
        energy_before = energy;
    }
}

// A plan of whole clocks that may change at no price can do whatever the rounded plan does.
TEST(Switching, FreeChangesAreNeverWorseThanWholeClocks) {
    Random random(11);
    for (int trial = 0; trial < 300; ++trial) {
        const int stages = static_cast<int>(random.between(1, 4)),
                  batches = static_cast<int>(random.between(1, 5));
        const Profile profile = tests::random_profile(random, stages, 4, 12);
        const Network network = network_of(tests::random_schedule(random, stages, batches), profile);
        const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
        const Nanoseconds deadline = fastest + random.between(0, fastest / 2);
        const auto whole = whole_clocks(network, deadline);
        const auto plan = plan_with_switches(network, deadline, {});
        ASSERT_TRUE(whole.ok() && plan.ok()) << trial;
        EXPECT_LE(evaluate(network, plan->assignment.duration, plan->assignment.gap).makespan, deadline);
        const double energy = total_energy(network, plan->assignment, deadline).value;
        const double rounded = total_energy(network, whole->assignment, deadline).value;
        EXPECT_LE(energy, rounded * (1 + 1e-12)) << trial;
        EXPECT_GE(energy * (1 + 1e-9), plan->bound->value) << trial;
    }
}

TEST(OrderSearch, FindsAtLeastEnvpipesOrderUnderMemory) {
    Profile profile = v100_profile(4);
    const auto found = search_order(profile, 16, 0, 60);
    ASSERT_TRUE(found.ok());
    const Network advanced = network_of(with_warm_up("envpipe", 16, advance_depths(profile, 16)), profile);
    const auto envpipe = exact_plan(advanced, 19 * 90'000'000);
    ASSERT_TRUE(envpipe.ok());
    const double energy = to_joules(envpipe->certificate.primal).value + 200 * 19 * 0.09;
    EXPECT_LE(found->energy.value, energy * (1 + 1e-12));
    EXPECT_LT(found->energy.value, found->first_energy.value * 0.96);

    for (StageProfile& stage : profile.stages) stage.activation = Bytes(1), stage.memory = Bytes(4);
    const auto tight = search_order(profile, 16, 0, 60);
    ASSERT_TRUE(tight.ok());
    for (const int depth : tight->depth) EXPECT_LE(depth, 4);
    EXPECT_GE(tight->energy, found->energy);
}

TEST(OrderSearch, TheBoundHoldsForEveryOrder) {
    Random random(17);
    for (int trial = 0; trial < 300; ++trial) {
        const int stages = static_cast<int>(random.between(1, 4)),
                  micro_batches = static_cast<int>(random.between(1, 5));
        const Profile profile = tests::random_profile(random, stages, 4, 12);
        const Schedule schedule = tests::random_schedule(random, stages, micro_batches);
        const Network network = network_of(schedule, profile);
        const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
        const Nanoseconds deadline = fastest + random.between(0, fastest);
        const auto frontier = exact_frontier(network);
        ASSERT_TRUE(frontier.ok());
        const double least = frontier->energy_at(deadline).value;
        EXPECT_LE(any_order_bound(schedule, profile, network, deadline).value,
                  least + 1e-9 * std::abs(least) + 1e-18);
    }
}

TEST(Tied, KeepsTheDeadlineAndComesNearTheExactPlan) {
    for (const double spread : {0.0, 0.05}) {
        const Profile profile = tests::uneven_v100_profile(4, spread, 2);
        const Schedule schedule = one_f_one_b(4, 64);
        const Network network = network_of(schedule, profile);
        const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
        for (const double slowdown : {1.0, 1.1}) {
            const auto deadline = static_cast<Nanoseconds>(static_cast<double>(fastest) * slowdown);
            const auto tied = plan_tied(schedule, profile, network, deadline);
            const auto exact = exact_plan(network, deadline);
            ASSERT_TRUE(tied.ok() && exact.ok());
            EXPECT_LE(evaluate(network, tied->assignment.duration).makespan, deadline);
            const double wait = (network.total_wait() * to_seconds(deadline)).value;
            const double least = to_joules(exact->certificate.primal).value + wait;
            const double found = total_energy(network, tied->assignment, deadline).value;
            EXPECT_GE(found, least * (1 - 1e-9));  // measured times are rounded to nanoseconds
            EXPECT_LE(found, least * 1.01) << spread << " " << slowdown;
            EXPECT_LE(tied->bound->value, least * (1 + 1e-12));
        }
    }
}

TEST(Tied, SharingSlackNeverOverruns) {
    Random random(23);
    for (int trial = 0; trial < 200; ++trial) {
        const Network network =
            network_of(tests::random_schedule(random, 3, 4), tests::random_profile(random, 3, 4, 20));
        const Nanoseconds fastest = evaluate(network, fastest_durations(network)).makespan;
        const Nanoseconds deadline = fastest + random.between(0, fastest);
        const auto shared = share_slack(network, deadline, 8);
        EXPECT_LE(evaluate(network, shared).makespan, deadline);
        EXPECT_LE(evaluate(network, fill_forward(network, slowest_durations(network), deadline)).makespan,
                  deadline);
    }
}

TEST(PowerCap, AllSlowDownAlikeUntilTheCapHolds) {
    const Network a = network_of(one_f_one_b(4, 16), v100_profile(4)),
                  b = network_of(one_f_one_b(2, 8), v100_profile(2));
    const std::vector<ExactFrontier> frontiers = {exact_frontier(a).value(), exact_frontier(b).value()};
    const auto free = share_power(frontiers, Watts(1e6));
    ASSERT_TRUE(free.ok());
    EXPECT_EQ(free->slowdown, 1);
    const auto capped = share_power(frontiers, free->power * 0.8);
    ASSERT_TRUE(capped.ok());
    EXPECT_LE(capped->power.value, free->power.value * 0.8);
    EXPECT_GT(capped->power.value, free->power.value * 0.8 * 0.999);
    EXPECT_GT(capped->slowdown, 1.01);
    for (std::size_t i = 0; i < 2; ++i)
        EXPECT_NEAR(
            static_cast<double>(capped->pipelines[i].time) / static_cast<double>(free->pipelines[i].time),
            capped->slowdown, 1e-6);
    EXPECT_FALSE(share_power(frontiers, Watts(299)).ok());  // six devices wait at 50 W each
}

}  // namespace
}  // namespace viridian::pipeline
