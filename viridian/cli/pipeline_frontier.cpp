// `viridian pipeline frontier`: every breakpoint of energy over time.
#include <chrono>
#include <memory>

#include "viridian/cli/pipeline.hpp"
#include "viridian/cli/pipeline_text.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/simulate.hpp"

namespace viridian::cli {
namespace {

struct FrontierOptions {
    PipelineOptions pipeline;
    std::vector<double> lookups;
    std::vector<std::string> compare;
};

Result<Answer> frontier(const FrontierOptions& o) {
    VIRIDIAN_TRY(const LoadedPipeline loaded, load_pipeline(o.pipeline));
    const auto begin = std::chrono::steady_clock::now();
    VIRIDIAN_TRY(const pipeline::ExactFrontier exact, exact_frontier(loaded.network));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const pipeline::Planned planned{loaded.schedule, loaded.profile, loaded.network, "exact"};
    pipeline::FrontierResult result = make_frontier_result(planned, exact);
    result.elapsed = Seconds(elapsed.count());
    for (const std::string& name : o.compare) {
        VIRIDIAN_TRY(const pipeline::PlannerRow planner, pipeline::find_planner(name));
        VIRIDIAN_TRY(
            const pipeline::PlannerAnswer clocks,
            planner.plan({loaded.schedule, loaded.profile, loaded.network}, {exact.points.front().time}));
        const pipeline::Simulation replay = pipeline::simulate(loaded.network, clocks.assignment);
        result.planners.emplace_back(
            name, pipeline::FrontierPair{pipeline::to_seconds(replay.timing.makespan), replay.energy()});
    }
    Answer answer{to_json(result), frontier_text(result), 0};
    for (const double deadline : o.lookups) {
        const pipeline::Nanoseconds time = pipeline::to_nanoseconds(Seconds(deadline));
        if (time < exact.points.front().time)
            return fail(
                ErrorCode::invalid_argument,
                fmt::format("give {:.9g} s or more", pipeline::to_seconds(exact.points.front().time).value),
                "no clocks end by {} s", deadline);
        // Until a straggler ends everyone waits: the whole curve counts, also where it rises.
        const Joules energy = exact.energy_at(time);
        answer.json["lookups"].push_back({{"deadline", deadline}, {"energy", energy.value}});
        answer.text +=
            fmt::format("  at {:.6f} s: {:.4f} J, waiting until then included\n", deadline, energy.value);
    }
    for (const std::string& note : loaded.notes) answer.text += "  note: " + note + "\n";
    return answer;
}

}  // namespace

Subcommand pipeline_frontier_subcommand() {
    return {
        "frontier", "Every breakpoint of the exact time-energy frontier",
        "viridian pipeline frontier --profile stages.csv --schedule 1f1b --micro-batches 16 --wait-power 50 "
        "--json",
        [](CLI::App& app) -> Action {
            const auto o = std::make_shared<FrontierOptions>();
            o->pipeline.add_profile_options(app);
            o->pipeline.add_schedule_options(app);
            app.add_option("--at", o->lookups, "Energy at these iteration times (stragglers), seconds")
                ->delimiter(',');
            app.add_option("--compare", o->compare, "Planners to put beside the frontier")->delimiter(',');
            return [o] { return frontier(*o); };
        }};
}

}  // namespace viridian::cli
