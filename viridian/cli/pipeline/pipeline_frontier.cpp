// `viridian pipeline frontier`: every breakpoint of energy over time.
#include <chrono>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/cli/pipeline/pipeline_text.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/planners/power_cap.hpp"
#include "viridian/pipeline/simulate.hpp"
#include "viridian/report/page.hpp"
#include "viridian/report/pipeline_picture.hpp"

namespace viridian::cli {
namespace {

struct FrontierOptions {
    PipelineOptions pipeline;
    std::vector<double> lookups;
    std::vector<std::string> compare, also;
    double power_cap = 0;
    std::string picture, html, output;
};

// Other profiles under the same schedule, and one limit for all.
Result<void> share_cap(const FrontierOptions& o, const pipeline::ExactFrontier& first, Answer& answer) {
    std::vector<pipeline::ExactFrontier> frontiers = {first};
    for (const std::string& file : o.also) {
        PipelineOptions other = o.pipeline;
        other.profile = file;
        other.device.clear();  // of the first pipeline
        VIRIDIAN_TRY(const LoadedPipeline loaded, load_pipeline(other));
        VIRIDIAN_TRY(pipeline::ExactFrontier frontier, exact_frontier(loaded.network));
        frontiers.push_back(std::move(frontier));
    }
    VIRIDIAN_TRY(const pipeline::PowerCap cap, pipeline::share_power(frontiers, Watts(o.power_cap)));
    answer.json["power_cap"] = {{"cap", o.power_cap}, {"power", cap.power.value}, {"slowdown", cap.slowdown}};
    answer.text += fmt::format("  under {:.1f} W: all {:.4f} % slower, {:.1f} W on average\n", o.power_cap,
                               (cap.slowdown - 1) * 100, cap.power.value);
    for (const pipeline::CappedPipeline& one : cap.pipelines) {
        const double time = pipeline::to_seconds(one.time).value;
        answer.json["power_cap"]["pipelines"].push_back(
            {{"time", time}, {"energy", one.energy.value}, {"power", one.power().value}});
        answer.text +=
            fmt::format("    {:.6f} s  {:.3f} J  {:.1f} W\n", time, one.energy.value, one.power().value);
    }
    return {};
}

Result<void> write_files(const FrontierOptions& o, Answer& answer) {
    const auto write = [&](const std::string& path, const std::string& text) -> Result<void> {
        VIRIDIAN_TRY(write_file(path, text));
        answer.text += fmt::format("  wrote {}\n", path);
        return {};
    };
    if (!o.picture.empty()) {
        VIRIDIAN_TRY(const std::string picture, report::frontier_picture(answer.json));
        VIRIDIAN_TRY(write(o.picture, picture));
    }
    if (!o.html.empty()) {
        VIRIDIAN_TRY(const std::string page, report::page(answer.json));
        VIRIDIAN_TRY(write(o.html, page));
    }
    if (!o.output.empty()) {
        VIRIDIAN_TRY(write(o.output, json_dump(answer.json, 1) + "\n"));
    }
    return {};
}

Result<Answer> frontier(const FrontierOptions& o) {
    VIRIDIAN_TRY(const LoadedPipeline loaded, load_pipeline(o.pipeline));
    const auto begin = std::chrono::steady_clock::now();
    VIRIDIAN_TRY(const pipeline::ExactFrontier exact, exact_frontier(loaded.network));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const pipeline::Planned planned{loaded.schedule, loaded.profile, loaded.network, "exact", 0};
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
    if (o.power_cap > 0) {
        VIRIDIAN_TRY(share_cap(o, exact, answer));
    }
    for (const std::string& note : loaded.notes) answer.text += "  note: " + note + "\n";
    VIRIDIAN_TRY(write_files(o, answer));
    return answer;
}

}  // namespace

Subcommand pipeline_frontier_subcommand() {
    return {
        "frontier", "Every breakpoint of the exact time-energy frontier",
        "viridian pipeline frontier --profile stages.csv --schedule 1f1b --micro-batches 16 --wait-power 50 "
        "--json",
        [](App app) -> Action {
            const auto o = std::make_shared<FrontierOptions>();
            o->pipeline.add_profile_options(app);
            o->pipeline.add_schedule_options(app);
            app.add_option("--at", o->lookups, "Energy at these iteration times (stragglers), seconds")
                .delimiter(',');
            app.add_option("--compare", o->compare, "Planners to put beside the frontier").delimiter(',');
            app.add_option("--power-cap", o->power_cap,
                           "Watts for this pipeline and those of --also together")
                .check(in_range(0.0, 1e12));
            app.add_option("--also", o->also, "Profiles of other pipelines under the same cap")
                .delimiter(',');
            app.add_option("--svg", o->picture, "Draw the frontier");
            app.add_option("--html", o->html, "Write it as a page");
            app.add_option("-o,--output", o->output, "Write it as JSON");
            return [o] { return frontier(*o); };
        }};
}

}  // namespace viridian::cli
