#include "viridian/cli/train/energy_answer.hpp"

#include "viridian/base/json.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/cli/train/layer_joules.hpp"

namespace viridian::cli {
namespace {

// "456 mJ [226 mJ, 920 mJ]"
std::string text(const Energy& energy) {
    return fmt::format("{} [{}, {}]", quantity(energy.value.value, "J"), quantity(energy.low.value, "J"),
                       quantity(energy.high.value, "J"));
}

// A row of a list of parts; nothing if there is no such part.
std::string row(std::string_view name, const std::optional<Energy>& energy, std::string_view note = {}) {
    return energy ? fmt::format("  {:<15} {}{}\n", name, text(*energy), note) : "";
}

Json json_of(const std::optional<Energy>& energy) { return energy ? to_json(*energy) : Json(); }

std::string run_text(const Energy& whole, const ActivityJoules& run, const std::optional<Energy>& step) {
    return fmt::format("the run took {} ({})\n", text(whole), whole.provenance.text()) +
           row("steps", run.steps, step ? fmt::format(", {} a step", text(*step)) : std::string()) +
           row("evaluations", run.evaluation) + row("checkpoints", run.checkpoint) + row("other", run.other);
}

// The parts add up to what the meters counted in a recorded step.
std::string step_text(const StepJoules& joules) {
    const StepBooks& books = *joules.books_of_step;
    std::string made = fmt::format("a recorded step took {} ({}, mean of {})\n", text(books.all),
                                   books.all.provenance.text(), counted(joules.steps, "step"));
    made += row("forward", joules.each.forward) + row("backward", joules.each.backward) +
            row("update", joules.each.update) + row("conversions", joules.each.other) +
            row("idle", books.idle) + row("unattributed", books.unattributed) +
            row("residual", books.residual);
    return made + row("other processes", books.others);
}

}  // namespace

std::string joules_text(const ActivityJoules& epoch) {
    if (!epoch.steps) return "";
    const std::string provenance = epoch.steps->provenance.text();
    return fmt::format("  steps {} {}", text(*epoch.steps), provenance.substr(0, provenance.find(':')));
}

Json to_json(const ActivityJoules& epoch) {
    return {{"joules", json_of(epoch.steps)},
            {"evaluation_joules", json_of(epoch.evaluation)},
            {"checkpoint_joules", json_of(epoch.checkpoint)}};
}

void add_energy(const RunMeter& meter, const train::Curve& curve, Answer& answer) {
    const StepJoules joules = step_joules(meter.accounted());
    const std::optional<Energy> whole = meter.whole();
    const ActivityJoules run = meter.run();
    std::optional<Energy> step;
    if (run.steps && meter.steps() > 0) step = scaled(*run.steps, 1 / static_cast<double>(meter.steps()));
    Json energy = to_json(joules);
    energy["meter"] = meter.meter_names();
    energy["provenance"] = meter.provenance().text();
    energy["run"] = {{"all", json_of(whole)},
                     {"steps", json_of(run.steps)},
                     {"evaluations", json_of(run.evaluation)},
                     {"checkpoints", json_of(run.checkpoint)},
                     {"other", json_of(run.other)}};
    energy["joules_a_step"] = json_of(step);
    if (whole) answer.text += run_text(*whole, run, step);
    if (joules.each.all) answer.text += step_text(joules);
    answer.json["energy"] = std::move(energy);
    answer.json["curve"] = to_json(curve);
}

}  // namespace viridian::cli
