#include "viridian/cli/train/energy_answer.hpp"

#include "viridian/base/units_text.hpp"
#include "viridian/cli/train/layer_joules.hpp"

namespace viridian::cli {
namespace {

std::string interval_text(const Energy& energy) {
    return fmt::format("{} [{:.3g}, {:.3g}]", quantity(energy.value.value, "J"), energy.low.value,
                       energy.high.value);
}

std::string phases_text(const StepJoules& joules) {
    std::string text;
    const auto add = [&](const char* phase, const std::optional<Energy>& energy) {
        if (!energy) return;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", phase, quantity(energy->value.value, "J"));
    };
    add("forward", joules.each.forward);
    add("backward", joules.each.backward);
    add("update", joules.each.update);
    add("other", joules.each.other);
    return fmt::format("  in its kernels: {} ({}, mean of {})\n", text, joules.each.all->provenance.text(),
                       counted(joules.steps, "recorded step"));
}

}  // namespace

std::string joules_text(const std::optional<Energy>& energy) {
    return energy ? fmt::format("  {}", quantity(energy->value.value, "J")) : "";
}

void add_energy(const RunMeter& meter, const train::TrainResult& result, const train::Curve& curve,
                Answer& answer) {
    const StepJoules joules = step_joules(meter.accounted());
    Json energy = to_json(joules);
    energy["meter"] = meter.meter_names();
    energy["provenance"] = meter.provenance().text();
    energy["joules_a_step"] = Json();
    for (std::size_t i = 0; i < result.epochs.size(); ++i)
        answer.json["epochs"][i]["joules"] =
            result.epochs[i].energy ? to_json(*result.epochs[i].energy) : Json();
    if (meter.total() && meter.steps() > 0) {
        const Energy each = scaled(*meter.total(), 1 / static_cast<double>(meter.steps()));
        energy["joules_a_step"] = to_json(each);
        answer.text += fmt::format("a step takes {} ({})\n", interval_text(each), each.provenance.text());
    }
    if (joules.each.all) answer.text += phases_text(joules);
    answer.json["energy"] = std::move(energy);
    answer.json["curve"] = to_json(curve);
}

}  // namespace viridian::cli
