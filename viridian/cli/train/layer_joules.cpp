#include "viridian/cli/train/layer_joules.hpp"

#include <algorithm>
#include <map>

#include "viridian/base/json.hpp"
#include "viridian/cli/train/running_power.hpp"

namespace viridian::cli {
namespace {

void add_to(std::optional<Energy>& sum, const Energy& energy) {
    if (sum)
        *sum += energy;
    else
        sum = energy;
}

std::optional<Energy>& phase_of(PhaseJoules& joules, std::string_view pass) {
    if (pass == "forward") return joules.forward;
    if (pass == "backward" || pass == "weight") return joules.backward;
    if (pass == "update") return joules.update;
    return joules.other;
}

void add_to(PhaseJoules& joules, const account::Operation& operation) {
    add_to(phase_of(joules, operation.pass), *operation.energy);
    add_to(joules.all, *operation.energy);
}

// Makes the sums of some steps means of one step. The ends of intervals were added up; no part exceeds what
// the meters counted at `most`.
void divide(PhaseJoules& joules, double steps, Joules most) {
    for (std::optional<Energy>* one :
         {&joules.forward, &joules.backward, &joules.update, &joules.other, &joules.all}) {
        if (!*one) continue;
        (*one)->high = std::max((*one)->value, std::min((*one)->high, most));
        *one = scaled(**one, 1 / steps);
    }
}

void add_books(const account::Device& device, std::vector<DeviceBooks>& books) {
    auto found = std::ranges::find(books, device.name, &DeviceBooks::device);
    if (found == books.end()) {
        books.push_back({device.name, device.method, device.meter_total, device.idle, device.unattributed,
                         device.residual, device.others});
        return;
    }
    if (found->method.find(device.method) == std::string::npos) found->method += ", " + device.method;
    found->meter += device.meter_total;
    found->idle += device.idle;
    found->unattributed += device.unattributed;
    found->residual += device.residual;
    found->others += device.others;
}

std::optional<StepBooks> books_of_step(const std::vector<DeviceBooks>& books, double steps) {
    if (books.empty()) return std::nullopt;
    DeviceBooks sum = books[0];
    for (std::size_t i = 1; i < books.size(); ++i) {
        sum.meter += books[i].meter;
        sum.idle += books[i].idle;
        sum.unattributed += books[i].unattributed;
        sum.residual += books[i].residual;
        sum.others += books[i].others;
    }
    Energy all = sum.meter;
    all += with_model_error({sum.others, sum.others, sum.others, sum.meter.provenance});
    const Energy others = scaled({sum.others, Joules(0), all.high, sum.meter.provenance}, 1 / steps);
    return StepBooks{scaled(all, 1 / steps), scaled(sum.idle, 1 / steps), scaled(sum.unattributed, 1 / steps),
                     scaled(sum.residual, 1 / steps), others};
}

}  // namespace

StepJoules step_joules(const std::vector<AccountedSteps>& accounted) {
    StepJoules made;
    std::map<std::string, LayerJoules> layers;
    for (const AccountedSteps& some : accounted) {
        made.steps += some.steps;
        made.seconds += some.seconds;
        made.accounting += some.accounting;
        for (const account::Operation& operation : some.accounting_of.operations) {
            if (!operation.energy) continue;
            LayerJoules& layer = layers[operation.name];
            layer.name = operation.name;
            layer.seconds += operation.seconds;
            add_to(layer.joules, operation);
            add_to(made.each, operation);
        }
        for (const account::Device& device : some.accounting_of.devices) add_books(device, made.books);
        for (const std::string& warning : some.accounting_of.warnings)
            if (std::ranges::find(made.warnings, warning) == made.warnings.end())
                made.warnings.push_back(warning);
    }
    if (made.steps == 0) return made;
    const auto steps = static_cast<double>(made.steps);
    Joules most;
    for (const DeviceBooks& device : made.books) most += device.meter.high;
    divide(made.each, steps, most);
    made.books_of_step = books_of_step(made.books, steps);
    for (auto& [name, layer] : layers) {
        divide(layer.joules, steps, most);
        layer.seconds = layer.seconds / steps;
        made.layers.push_back(std::move(layer));
    }
    std::ranges::stable_sort(made.layers, [](const LayerJoules& a, const LayerJoules& b) {
        return a.joules.all->value > b.joules.all->value;
    });
    return made;
}

Json to_json(const PhaseJoules& joules) {
    const auto energy = [](const std::optional<Energy>& one) { return one ? to_json(*one) : Json(); };
    return {{"all", energy(joules.all)},
            {"forward", energy(joules.forward)},
            {"backward", energy(joules.backward)},
            {"update", energy(joules.update)},
            {"other", energy(joules.other)}};
}

Json to_json(const StepJoules& joules) {
    Json json = {{"recorded_steps", joules.steps},
                 {"recorded_seconds", joules.seconds.value},
                 {"accounting_seconds", joules.accounting.value},
                 {"joules", to_json(joules.each)},
                 {"step", Json()},
                 {"layers", Json::array()},
                 {"devices", Json::array()},
                 {"warnings", joules.warnings}};
    if (const std::optional<StepBooks>& step = joules.books_of_step)
        json["step"] = {{"all", to_json(step->all)},
                        {"idle", to_json(step->idle)},
                        {"unattributed", to_json(step->unattributed)},
                        {"residual", to_json(step->residual)},
                        {"other_processes", to_json(step->others)}};
    for (const LayerJoules& layer : joules.layers)
        json["layers"].push_back(
            {{"name", layer.name}, {"seconds", layer.seconds.value}, {"joules", to_json(layer.joules)}});
    for (const DeviceBooks& device : joules.books)
        json["devices"].push_back({{"device", device.device},
                                   {"method", device.method},
                                   {"meter", to_json(device.meter)},
                                   {"idle", to_json(device.idle)},
                                   {"unattributed", to_json(device.unattributed)},
                                   {"residual", to_json(device.residual)},
                                   {"other_processes", device.others.value}});
    return json;
}

}  // namespace viridian::cli
