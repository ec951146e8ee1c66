#include "viridian/train/loop/run_state.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/data/convert.hpp"

namespace viridian::train {
namespace {

constexpr std::string_view average_ending = ".average";  // of the name of a moving average in a checkpoint

}  // namespace

Checkpoint checkpoint_of(const RunState& run, const std::vector<StateAbout>& about, const Tensors& states) {
    Checkpoint checkpoint;
    for (const StateAbout& state : about)
        checkpoint.states.push_back({.name = state.name,
                                     .role = std::string(name_of(state.role)),
                                     .of = state.of,
                                     .tensor = states.at(state.name)});
    if (run.averages)
        for (const NamedTensor& average : run.averages->averages())
            checkpoint.states.push_back({.name = average.name + std::string(average_ending),
                                         .role = "average",
                                         .of = average.name,
                                         .tensor = average.tensor});
    checkpoint.position = run.position;
    checkpoint.numbers = run.numbers;
    checkpoint.numbers["average.sum"] = run.loss.sum;
    checkpoint.numbers["average.weight"] = run.loss.weight;
    if (run.averages) checkpoint.numbers["weights.updates"] = static_cast<double>(run.averages->updates());
    if (run.stop) {
        checkpoint.numbers["stop.waited"] = run.stop->waited;
        if (!std::isnan(run.stop->best)) checkpoint.numbers["stop.best"] = run.stop->best;
    }
    if (run.best) {
        checkpoint.numbers["best.score"] = run.best->score;
        checkpoint.numbers["best.epoch"] = static_cast<double>(run.best->epoch);
        checkpoint.numbers["best.step"] = static_cast<double>(run.best->step);
    }
    return checkpoint;
}

Result<Tensors> restored(Checkpoint saved, const Path& file, const std::vector<StateAbout>& about,
                         const std::vector<std::string>& weights, RunState& run) {
    Tensors states;
    for (SavedState& state : saved.states) states[state.name] = std::move(state.tensor);
    std::vector<std::string> needed;
    for (const StateAbout& state : about) needed.push_back(state.name);
    if (run.averages)
        for (const std::string& name : weights) needed.push_back(name + std::string(average_ending));
    for (const std::string& name : needed)
        if (!states.contains(name))
            return fail(ErrorCode::mismatch, "resume with the options of the run that wrote it",
                        "{} has no state `{}`", file.string(), name);
    run.position = saved.position;
    run.numbers = std::move(saved.numbers);
    run.loss.sum = run.numbers["average.sum"];
    run.loss.weight = run.numbers["average.weight"];
    if (run.averages) {
        std::vector<NamedTensor> averages;
        for (const std::string& name : weights)
            averages.push_back({name, states.at(name + std::string(average_ending))});
        run.averages->restore(std::move(averages), static_cast<std::int64_t>(run.numbers["weights.updates"]));
    }
    if (run.stop) {
        run.stop->waited = static_cast<int>(run.numbers["stop.waited"]);
        if (const auto best = run.numbers.find("stop.best"); best != run.numbers.end())
            run.stop->best = best->second;
    }
    if (const auto best = run.numbers.find("best.score"); best != run.numbers.end())
        run.best = {.score = best->second,
                    .epoch = static_cast<std::int64_t>(run.numbers["best.epoch"]),
                    .step = static_cast<std::int64_t>(run.numbers["best.step"])};
    return states;
}

Result<Tensors> judged_weights(const Path& file, const std::vector<std::string>& names) {
    VIRIDIAN_TRY(const Checkpoint saved, read_checkpoint(file));
    Tensors weights;
    for (const std::string& name : names) {
        const auto own = std::ranges::find(saved.states, name, &SavedState::name);
        if (own == saved.states.end())
            return fail(ErrorCode::mismatch, "resume with the options of the run that wrote it",
                        "{} has no state `{}`", file.string(), name);
        const auto average = std::ranges::find_if(saved.states, [&](const SavedState& state) {
            return state.role == "average" && state.of == name;
        });
        if (average == saved.states.end()) {
            weights[name] = own->tensor;
        } else {
            VIRIDIAN_TRY(weights[name], data::convert(average->tensor, own->tensor.type(), {}, name));
        }
    }
    return weights;
}

}  // namespace viridian::train
