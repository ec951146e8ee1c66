// Plans of lowtime (tests/data/pipeline), replayed exactly: its promised times are rounded down, and at the
// time each plan really takes the exact frontier never needs more energy.
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

TEST(Peers, NoPlanOfLowtimeOrEnvpipeBeatsTheFrontier) {
    const Path folder = viridian::tests::source_folder() / "tests/data/pipeline";
    for (const char* name : {"v100_4_balanced", "v100_4_uneven", "v100_3_slow_middle"}) {
        const auto csv = read_file(folder / (std::string(name) + ".csv"));
        const auto text = read_file(folder / (std::string(name) + ".lowtime.json"));
        ASSERT_TRUE(csv.ok() && text.ok());
        auto profile = read_profile_csv(*csv, name);
        const auto peer = parse_json(*text, name);
        ASSERT_TRUE(profile.ok() && peer.ok());
        for (StageProfile& stage : profile->stages) stage.wait = Watts((*peer)["wait_power"].get<double>());
        const Schedule schedule = one_f_one_b(profile->size(), (*peer)["micro_batches"].get<int>());
        const Network network = tests::network_of(schedule, *profile);
        const auto frontier = exact_frontier(network);
        ASSERT_TRUE(frontier.ok());
        int optimistic = 0;
        for (const Json& one : (*peer)["plans"]) {
            PlanFile plan = plan_of(schedule);
            std::size_t u = 0;
            for (const Json& rank : one["clocks"])
                for (const Json& clock : rank) plan.clock[u++] = Hertz(clock.get<double>() * 1e6);
            ASSERT_EQ(u, plan.clock.size());
            const auto assignment = assign_clocks(plan, network);
            ASSERT_TRUE(assignment.ok()) << assignment.error().text();
            const Simulation replay = simulate(network, *assignment);
            EXPECT_LE(frontier->energy_at(replay.timing.makespan).value, replay.energy().value * (1 + 1e-9));
            optimistic +=
                to_seconds(replay.timing.makespan).value > one["promised_time"].get<double>() + 1e-9 ? 1 : 0;
        }
        EXPECT_GT(optimistic, 0) << name;
        const PlannerAnswer envpipe_plan = envpipe(schedule, network, Reconfigure::balanced);
        const Simulation replay = simulate(network, envpipe_plan.assignment);
        EXPECT_LE(frontier->energy_at(replay.timing.makespan).value, replay.energy().value * (1 + 1e-9));
    }
}

}  // namespace
}  // namespace viridian::pipeline
