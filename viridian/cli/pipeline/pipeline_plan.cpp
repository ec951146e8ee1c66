// `viridian pipeline plan`: profile → schedule → clocks → replay.
#include <chrono>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/pipeline/pipeline.hpp"
#include "viridian/cli/pipeline/pipeline_text.hpp"
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/make_result.hpp"
#include "viridian/pipeline/plan_json.hpp"
#include "viridian/pipeline/planners/order_search.hpp"
#include "viridian/pipeline/planners/switching.hpp"
#include "viridian/pipeline/schedules/schedules.hpp"
#include "viridian/report/page.hpp"
#include "viridian/report/pipeline_picture.hpp"

namespace viridian::cli {
namespace {

struct PlanOptions {
    PipelineOptions pipeline;
    DeadlineOptions deadline;
    std::string planner = "exact", clocks = "split", order = "given", output, html, picture;
    double quantum = 0.001;
    int evaluations = 300;
};

// The schedule as asked for, or the best warm-up depths by the same deadline.
Result<LoadedPipeline> load(const PlanOptions& o) {
    if (o.order == "given") return load_pipeline(o.pipeline);
    VIRIDIAN_TRY(const pipeline::Profile profile, load_profile(o.pipeline, o.pipeline.profile));
    if (3 * std::int64_t{profile.size()} * o.pipeline.micro_batches > pipeline::most_exact_units ||
        o.pipeline.micro_batches < 1)
        return fail(ErrorCode::limit_exceeded, "give --order given",
                    "{} stages × {} micro-batches cannot be searched", profile.size(),
                    o.pipeline.micro_batches);
    VIRIDIAN_TRY(const pipeline::Network plain,
                 make_network(pipeline::one_f_one_b(profile.size(), o.pipeline.micro_batches), profile));
    const bool asked = o.deadline.straggler > 0 || o.deadline.deadline > 0 || o.deadline.slowdown > 0;
    VIRIDIAN_TRY(const pipeline::OrderSearch found,
                 search_order(profile, o.pipeline.micro_batches, asked ? o.deadline.resolve(plain) : 0,
                              o.evaluations));
    VIRIDIAN_TRY(LoadedPipeline loaded, load_pipeline(o.pipeline, found.schedule));
    std::string depths;
    for (const int d : found.depth) depths += fmt::format("{}{}", depths.empty() ? "" : " ", d);
    loaded.notes.push_back(
        fmt::format("order searched: warm-up depths {} after {} orders; plain 1F1B needs {:.3f} J", depths,
                    found.evaluations, found.first_energy.value));
    return loaded;
}

// Millions of units are evaluated, not listed.
constexpr int most_listed_units = 1'000'000;

Result<Answer> summary(const PlanOptions& o, const LoadedPipeline& loaded,
                       const pipeline::PlannerAnswer& clocks) {
    if (!o.output.empty() || !o.html.empty() || !o.picture.empty())
        return fail(ErrorCode::limit_exceeded, "leave out -o, --html and --svg",
                    "a plan of {} units is not written out", loaded.network.size());
    const auto begin = std::chrono::steady_clock::now();
    const pipeline::Timing timing =
        evaluate(loaded.network, clocks.assignment.duration, clocks.assignment.gap);
    const Joules energy = total_energy(loaded.network, clocks.assignment, timing.makespan);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const pipeline::ClockAssignment maximum = at_levels(loaded.network, maximum_levels(loaded.network));
    const pipeline::Nanoseconds full = evaluate(loaded.network, maximum.duration).makespan;
    const Joules most = total_energy(loaded.network, maximum, full);
    Answer answer;
    answer.json = {{"schema", "viridian.pipeline-summary/1"},
                   {"planner", o.planner},
                   {"units", loaded.network.size()},
                   {"time", pipeline::to_seconds(timing.makespan).value},
                   {"energy", energy.value},
                   {"maximum_clocks", {{"time", pipeline::to_seconds(full).value}, {"energy", most.value}}},
                   {"evaluation_seconds", elapsed.count()},
                   {"provenance", loaded.profile.provenance.text()}};
    answer.text = fmt::format(
        "{} units, planner {}\n  time    {:.6f} s\n  energy  {:.3f} J   {:+.3f} % against full clocks "
        "({})\n  evaluated in {:.3f} s\n",
        loaded.network.size(), o.planner, pipeline::to_seconds(timing.makespan).value, energy.value,
        (energy / most - 1) * 100, loaded.profile.provenance.text(), elapsed.count());
    if (clocks.bound) {
        answer.json["bound"] = clocks.bound->value;
        answer.json["gap"] = energy / *clocks.bound - 1;
        answer.text += fmt::format("  bound   {:.3f} J   gap {:.3f} %\n", clocks.bound->value,
                                   (energy / *clocks.bound - 1) * 100);
    }
    return answer;
}

// The page holds the frontier as well, with this plan on it, where the network can be solved exactly.
Result<void> draw(const PlanOptions& o, const LoadedPipeline& loaded, const pipeline::PlanResult& plan,
                  Answer& answer) {
    if (!o.picture.empty()) {
        VIRIDIAN_TRY(const std::string picture, report::schedule_picture(answer.json));
        VIRIDIAN_TRY(write_file(o.picture, picture));
        answer.text += fmt::format("  wrote {}\n", o.picture);
    }
    if (o.html.empty()) return {};
    Json both = answer.json;
    if (loaded.network.size() <= pipeline::most_exact_units / 16) {
        VIRIDIAN_TRY(const pipeline::ExactFrontier exact, exact_frontier(loaded.network));
        pipeline::FrontierResult frontier =
            make_frontier_result({loaded.schedule, loaded.profile, loaded.network, "exact", 0}, exact);
        frontier.planners = {{"full clocks", {plan.maximum_time, plan.maximum_energy}},
                             {plan.planner, {plan.time, plan.energy}}};
        const Json drawn = to_json(frontier);
        for (const char* key : {"frontier", "beyond", "planners"}) both[key] = drawn[key];
    }
    VIRIDIAN_TRY(const std::string page, report::page(both));
    VIRIDIAN_TRY(write_file(o.html, page));
    answer.text += fmt::format("  wrote {}\n", o.html);
    return {};
}

Result<Answer> plan(const PlanOptions& o) {
    VIRIDIAN_TRY(const pipeline::PlannerRow planner, pipeline::find_planner(o.planner));
    VIRIDIAN_TRY(LoadedPipeline loaded, load(o));
    const pipeline::PlanRequest request{o.deadline.resolve(loaded.network), o.deadline.straggler > 0,
                                        Seconds(o.quantum), o.clocks == "whole"};
    VIRIDIAN_TRY(pipeline::PlannerAnswer clocks,
                 planner.plan({loaded.schedule, loaded.profile, loaded.network}, request));
    if (const std::string note = price_switches(loaded.profile, loaded.network, clocks); !note.empty())
        loaded.notes.push_back(note);
    if (o.order == "search") {  // the relaxation of this order bounds this order only
        clocks.exact = false;
        clocks.bound = any_order_bound(loaded.schedule, loaded.profile, loaded.network, request.deadline);
    }
    if (loaded.network.size() > most_listed_units) return summary(o, loaded, clocks);
    pipeline::PlanResult result =
        make_plan_result({loaded.schedule, loaded.profile, loaded.network, o.planner,
                          o.deadline.straggler > 0 ? o.deadline.resolve(loaded.network) : 0},
                         clocks);
    add_switch_energy(loaded.profile, result);
    result.notes = loaded.notes;
    Answer answer{to_json(result), plan_text(result), 0};
    VIRIDIAN_TRY(draw(o, loaded, result, answer));
    if (!o.output.empty()) {
        VIRIDIAN_TRY(write_file(o.output, json_dump(answer.json, 1) + "\n"));
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
        [](App app) -> Action {
            const auto o = std::make_shared<PlanOptions>();
            o->pipeline.add_profile_options(app);
            o->pipeline.add_schedule_options(app);
            o->deadline.add(app);
            std::string names;
            for (const pipeline::PlannerRow& row : pipeline::planners())
                names += fmt::format("\n  {:<18} {}", row.name, row.summary);
            app.add_option("--planner,--solver", o->planner, "The method that chooses the clocks:" + names)
                .capture_default_str();
            app.add_option("--clocks", o->clocks, "exact: `split` (two clocks in turn in a unit) or `whole`")
                .check(one_of({"split", "whole"}))
                .capture_default_str();
            app.add_option("--order", o->order,
                           "`given` by --schedule, or `search`: the best warm-up depths under memory")
                .check(one_of({"given", "search"}))
                .capture_default_str();
            app.add_option("--evaluations", o->evaluations, "Orders that a search may try")
                .check(in_range(1, 1'000'000));
            app.add_option("--quantum", o->quantum, "perseus: seconds of one step")
                .check(in_range(1e-9, 1e6));
            app.add_option("-o,--output", o->output, "Write the plan as JSON");
            app.add_option("--svg", o->picture, "Draw the schedule: time × rank, coloured by clock");
            app.add_option("--html", o->html, "Write one page: schedule, frontier, proof");
            return [o] { return plan(*o); };
        }};
}

}  // namespace viridian::cli
