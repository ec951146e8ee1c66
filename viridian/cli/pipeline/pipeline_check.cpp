// `viridian pipeline check`: any plan, verified and replayed: deadlock, memory, time, energy, distance from
// the optimum.
#include <algorithm>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/cli/pipeline/pipeline_text.hpp"
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/formats/formats.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/memory.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/runnable.hpp"

namespace viridian::cli {
namespace {

struct PipelineCheckOptions {
    PipelineOptions pipeline;
    std::string input, from = "json";
};

// Without a profile the order alone is verified.
Result<Answer> check_order(const PipelineCheckOptions& o, const pipeline::Schedule& schedule) {
    VIRIDIAN_TRY(check_runnable(schedule));
    const auto memory = memory_of(schedule, equal_profile(schedule));
    Answer answer;
    answer.json = {{"schema", "viridian.pipeline-check/1"},
                   {"valid", true},
                   {"stages", schedule.stages},
                   {"micro_batches", schedule.micro_batches},
                   {"ranks", schedule.ranks.size()}};
    answer.text = fmt::format(
        "`{}` ({}) can run: {}, {} on {}, {}\n  micro-batches in flight per rank:", o.input, o.from,
        counted(schedule.micro_batches, "micro-batch", "micro-batches"), counted(schedule.stages, "stage"),
        counted(schedule.ranks.size(), "rank"), counted(schedule.size(), "unit"));
    for (const pipeline::RankMemory& rank : memory) {
        answer.json["micro_batches_in_flight"].push_back(rank.most_in_flight);
        answer.text += fmt::format(" {}", rank.most_in_flight);
    }
    answer.text += "\n  give --profile FILE for times, energy and memory, or --device v100 for an estimate\n";
    return answer;
}

Result<Answer> check_pipeline(const PipelineCheckOptions& o) {
    VIRIDIAN_TRY(const pipeline::FormatRow format, pipeline::find_format(o.from));
    VIRIDIAN_TRY(const std::string text, read_file(o.input, std::uint64_t{1} << 30));
    VIRIDIAN_TRY(const pipeline::Read read, format.read(text, o.input));
    if (o.pipeline.profile.empty() && o.pipeline.device.empty()) return check_order(o, read.plan.schedule);
    VIRIDIAN_TRY(LoadedPipeline loaded, load_pipeline(o.pipeline, read.plan.schedule));
    pipeline::PlannerAnswer clocks;
    VIRIDIAN_TRY(clocks.assignment, assign_clocks(read.plan, loaded.network));
    const pipeline::Nanoseconds end = evaluate(loaded.network, clocks.assignment.duration).makespan;
    if (loaded.network.size() <= pipeline::most_exact_units) {
        VIRIDIAN_TRY(const pipeline::ExactPlan exact, exact_plan(loaded.network, end));
        clocks.certificate = exact.certificate;
        clocks.bound = pipeline::to_joules(exact.certificate.primal) +
                       loaded.network.total_wait() * pipeline::to_seconds(end);
    }
    pipeline::PlanResult result =
        make_plan_result({loaded.schedule, loaded.profile, loaded.network, "read from " + o.from, 0}, clocks);
    std::size_t u = 0;  // the clocks as the file gives them
    for (pipeline::RankResult& rank : result.ranks)
        for (pipeline::PlannedUnit& unit : rank.units) {
            unit.clock = read.plan.clock[u];
            unit.second_clock = read.plan.second_clock[u];
            unit.second_after = read.plan.second_after[u++];
        }
    const auto two = [](Hertz second) { return second.value > 0; };
    result.clocks_per_unit = std::ranges::any_of(read.plan.second_clock, two) ? 2 : 1;
    result.notes = loaded.notes;
    for (const std::string& one : read.dropped) result.notes.push_back("dropped: " + one);
    return Answer{to_json(result), check_text(result, o.input, o.from), 0};
}

}  // namespace

Subcommand pipeline_check_subcommand() {
    return {"check", "Verifies and replays a plan: deadlock, memory, time, energy, gap to the proven optimum",
            "viridian pipeline check schedule.csv --from pytorch --profile stages.csv",
            [](App app) -> Action {
                const auto o = std::make_shared<PipelineCheckOptions>();
                app.add_option("plan", o->input, "Plan to check").required();
                app.add_option("--from", o->from, "json, pytorch, zeus, megatron-order, deepspeed")
                    .capture_default_str();
                o->pipeline.add_profile_options(app);
                return [o] { return check_pipeline(*o); };
            }};
}

}  // namespace viridian::cli
