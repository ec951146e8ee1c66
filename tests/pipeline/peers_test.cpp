// Plans of lowtime (tests/data/pipeline), replayed exactly: its promised times are rounded down, and at the
// time each plan really takes the exact frontier never needs more energy. The frontier may use two clocks in
// a unit and lowtime's plans use one, so the frontier is below them by its definition. Plans of ours with one
// clock in a unit are therefore compared as well.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/pipeline/linear_program.hpp"
#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/profile/profile_csv.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"
#include "viridian/pipeline/simulate.hpp"

namespace viridian::pipeline {
namespace {

struct PeerCase {
    std::string name;
    Json peer;
    Schedule schedule;
    Network network;
};

std::vector<PeerCase> peer_cases() {
    std::vector<PeerCase> cases;
    const Path folder = viridian::tests::source_folder() / "tests/data/pipeline";
    for (const char* name : {"v100_4_balanced", "v100_4_uneven", "v100_3_slow_middle"}) {
        const auto csv = read_file(folder / (std::string(name) + ".csv"));
        const auto text = read_file(folder / (std::string(name) + ".lowtime.json"));
        EXPECT_TRUE(csv.ok() && text.ok()) << name;
        auto profile = read_profile_csv(*csv, name);
        auto peer = parse_json(*text, name);
        EXPECT_TRUE(profile.ok() && peer.ok()) << name;
        for (StageProfile& stage : profile->stages) stage.wait = Watts((*peer)["wait_power"].get<double>());
        Schedule schedule = one_f_one_b(profile->size(), (*peer)["micro_batches"].get<int>());
        Network network = tests::network_of(schedule, *profile);
        cases.push_back({name, std::move(*peer), std::move(schedule), std::move(network)});
    }
    return cases;
}

Simulation replay(const PeerCase& one, const Json& peer_plan) {
    PlanFile plan = plan_of(one.schedule);
    std::size_t u = 0;
    for (const Json& rank : peer_plan["clocks"])
        for (const Json& clock : rank) plan.clock[u++] = Hertz(clock.get<double>() * 1e6);
    EXPECT_EQ(u, plan.clock.size());
    const auto assignment = assign_clocks(plan, one.network);
    EXPECT_TRUE(assignment.ok()) << one.name;
    return simulate(one.network, *assignment);
}

TEST(Peers, NoPlanOfLowtimeOrEnvpipeBeatsTheFrontier) {
    for (const PeerCase& one : peer_cases()) {
        const auto frontier = exact_frontier(one.network);
        ASSERT_TRUE(frontier.ok());
        int optimistic = 0;
        for (const Json& plan : one.peer["plans"]) {
            const Simulation peer = replay(one, plan);
            EXPECT_LE(frontier->energy_at(peer.timing.makespan).value, peer.energy().value * (1 + 1e-9));
            optimistic +=
                to_seconds(peer.timing.makespan).value > plan["promised_time"].get<double>() + 1e-9 ? 1 : 0;
        }
        EXPECT_GT(optimistic, 0) << one.name;
        const PlannerAnswer envpipe_plan = envpipe(one.schedule, one.network, Reconfigure::balanced);
        const Simulation peer = simulate(one.network, envpipe_plan.assignment);
        EXPECT_LE(frontier->energy_at(peer.timing.makespan).value, peer.energy().value * (1 + 1e-9));
    }
}

// One clock in a unit against one clock in a unit: ours ends no later than lowtime's plan and needs no more
// energy.
TEST(Peers, NoPlanOfLowtimeBeatsOursWithOneClockInAUnit) {
    for (const PeerCase& one : peer_cases()) {
        for (const Json& plan : one.peer["plans"]) {
            const Simulation peer = replay(one, plan);
            const auto row = find_planner("exact");
            ASSERT_TRUE(row.ok());
            const auto ours = row->plan({one.schedule, {}, one.network},
                                        {.deadline = peer.timing.makespan, .whole_clocks = true});
            ASSERT_TRUE(ours.ok());
            const Simulation own = simulate(one.network, ours->assignment);
            EXPECT_LE(own.timing.makespan, peer.timing.makespan) << one.name;
            EXPECT_LE(own.energy().value, peer.energy().value) << one.name << " " << plan["promised_time"];
        }
    }
}

}  // namespace
}  // namespace viridian::pipeline
