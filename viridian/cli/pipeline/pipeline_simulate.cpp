// `viridian pipeline simulate`: one plan, run on paper, calm and disturbed.
#include <memory>

#include "viridian/base/json.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/cli/pipeline/pipeline_text.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/simulate.hpp"

namespace viridian::cli {
namespace {

struct SimulateOptions {
    PipelineOptions pipeline;
    DeadlineOptions deadline;
    std::string planner = "maximum";
    pipeline::Disturbance disturbance;
    std::vector<std::string> stragglers;  // rank:factor
};

Result<std::vector<double>> straggler_factors(const std::vector<std::string>& list, int ranks) {
    std::vector<double> factor(static_cast<std::size_t>(ranks), 1.0);
    for (const std::string& one : list) {
        int rank = -1;
        double slow = 0;
        if (std::sscanf(one.c_str(), "%d:%lf", &rank, &slow) != 2 || rank < 0 || rank >= ranks ||
            !(slow > 0) || slow > 1e6)
            return fail(ErrorCode::invalid_argument, "give RANK:FACTOR, as 2:1.3", "`{}` names no slow rank",
                        one);
        factor[static_cast<std::size_t>(rank)] = slow;
    }
    return factor;
}

Result<Answer> simulate(const SimulateOptions& o) {
    VIRIDIAN_TRY(const pipeline::PlannerRow planner, pipeline::find_planner(o.planner));
    VIRIDIAN_TRY(const LoadedPipeline loaded, load_pipeline(o.pipeline));
    VIRIDIAN_TRY(const pipeline::PlannerAnswer clocks,
                 planner.plan({loaded.schedule, loaded.profile, loaded.network},
                              {o.deadline.resolve(loaded.network), o.deadline.straggler > 0}));
    pipeline::PlanResult result =
        make_plan_result({loaded.schedule, loaded.profile, loaded.network, o.planner,
                          o.deadline.straggler > 0 ? o.deadline.resolve(loaded.network) : 0},
                         clocks);
    result.notes = loaded.notes;
    Answer answer{to_json(result), plan_text(result), 0};
    if (o.disturbance.jitter > 0 || !o.stragglers.empty()) {
        pipeline::Disturbance disturbance = o.disturbance;
        VIRIDIAN_TRY(disturbance.straggler, straggler_factors(o.stragglers, loaded.network.ranks()));
        const pipeline::ClockAssignment maximum = at_levels(loaded.network, maximum_levels(loaded.network));
        const auto run = simulate_disturbed(loaded.network, clocks.assignment, disturbance);
        const auto full = simulate_disturbed(loaded.network, maximum, disturbance);
        answer.json["disturbed"] = {
            {"jitter", disturbance.jitter},
            {"runs", disturbance.runs},
            {"seed", disturbance.seed},
            {"mean_time", run.mean.value},
            {"worst_time", run.worst.value},
            {"energy", run.energy.value},
            {"maximum_clocks", {{"mean_time", full.mean.value}, {"energy", full.energy.value}}},
            {"slowdown", run.mean / full.mean - 1}};
        answer.text += fmt::format(
            "  disturbed ({} runs, seed {}): mean {:.6f} s, worst {:.6f} s, {:.3f} J; {:+.3f} % time "
            "against full clocks under the same disturbance\n",
            disturbance.runs, disturbance.seed, run.mean.value, run.worst.value, run.energy.value,
            (run.mean / full.mean - 1) * 100);
    }
    return answer;
}

}  // namespace

Subcommand pipeline_simulate_subcommand() {
    return {"simulate",
            "Runs a plan on paper: times, bubbles, critical path, memory, energy; with jitter and stragglers",
            "viridian pipeline simulate --device v100 --micro-batches 16 --planner envpipe --jitter 0.02",
            [](App app) -> Action {
                const auto o = std::make_shared<SimulateOptions>();
                o->pipeline.add_profile_options(app);
                o->pipeline.add_schedule_options(app);
                o->deadline.add(app);
                app.add_option("--planner,--solver", o->planner, "As in `plan`").capture_default_str();
                app.add_option("--jitter", o->disturbance.jitter,
                               "Relative standard deviation of each unit's time")
                    .check(in_range(0.0, 1.0));
                app.add_option("--runs", o->disturbance.runs, "Disturbed runs").check(in_range(1, 1'000'000));
                app.add_option("--seed", o->disturbance.seed, "Seed of the disturbance");
                app.add_option("--slow-rank", o->stragglers, "RANK:FACTOR, a slow rank; several times");
                return [o] { return simulate(*o); };
            }};
}

}  // namespace viridian::cli
