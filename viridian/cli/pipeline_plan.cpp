// `viridian pipeline plan`: profile → schedule → clocks → replay.
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/cli/pipeline.hpp"
#include "viridian/cli/pipeline_text.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/plan_json.hpp"

namespace viridian::cli {
namespace {

struct PlanOptions {
    PipelineOptions pipeline;
    DeadlineOptions deadline;
    std::string planner = "exact", clocks = "split", output;
    double quantum = 0.001;
};

Result<Answer> plan(const PlanOptions& o) {
    VIRIDIAN_TRY(const pipeline::PlannerRow planner, pipeline::find_planner(o.planner));
    VIRIDIAN_TRY(const LoadedPipeline loaded, load_pipeline(o.pipeline));
    const pipeline::PlanRequest request{o.deadline.resolve(loaded.network), Seconds(o.quantum),
                                        o.clocks == "whole"};
    VIRIDIAN_TRY(const pipeline::PlannerAnswer clocks,
                 planner.plan(loaded.schedule, loaded.network, request));
    pipeline::PlanResult result =
        make_plan_result({loaded.schedule, loaded.profile, loaded.network, o.planner}, clocks);
    result.notes = loaded.notes;
    Answer answer{to_json(result), plan_text(result), 0};
    if (!o.output.empty()) {
        VIRIDIAN_TRY(write_file(o.output, answer.json.dump(1) + "\n"));
        answer.text += fmt::format("  wrote {}\n", o.output);
    }
    return answer;
}

}  // namespace

Subcommand pipeline_plan_subcommand() {
    return {
        "plan", "Chooses every unit's clock for a deadline",
        "viridian pipeline plan --profile stages.csv --schedule 1f1b --micro-batches 16 --wait-power 50 -o "
        "plan.json",
        [](CLI::App& app) -> Action {
            const auto o = std::make_shared<PlanOptions>();
            o->pipeline.add_profile_options(app);
            o->pipeline.add_schedule_options(app);
            o->deadline.add(app);
            std::string names;
            for (const pipeline::PlannerRow& row : pipeline::planners())
                names += fmt::format("\n  {:<18} {}", row.name, row.summary);
            app.add_option("--planner,--solver", o->planner, "Who decides:" + names)->capture_default_str();
            app.add_option("--clocks", o->clocks, "exact: `split` (two clocks in turn in a unit) or `whole`")
                ->check(CLI::IsMember({"split", "whole"}))
                ->capture_default_str();
            app.add_option("--quantum", o->quantum, "perseus: seconds of one step")
                ->check(CLI::Range(1e-9, 1e6));
            app.add_option("-o,--output", o->output, "Write the plan as JSON");
            return [o] { return plan(*o); };
        }};
}

}  // namespace viridian::cli
