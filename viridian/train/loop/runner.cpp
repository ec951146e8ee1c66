#include "viridian/train/loop/runner.hpp"

#include <algorithm>

namespace viridian::train {

Result<Runner> Runner::make(Ready ready) {
    Runner runner(std::move(ready));
    VIRIDIAN_TRY(runner.outputs_, execute::output_tensors(runner.ready_.graph));
    return runner;
}

Result<const std::vector<graph::Tensor>*> Runner::run(const std::map<std::string, graph::Tensor>& inputs) {
    const graph::Graph& graph = ready_.graph;
    inputs_.clear();
    for (const graph::ValueId id : graph.inputs()) {
        const auto found = inputs.find(graph.value(id).name);
        if (found == inputs.end())
            return fail(ErrorCode::missing_entry, "map a column of the data to it with --input",
                        "nothing gives the input `{}`", graph.value(id).name);
        if (found->second.tensor_type() != graph.value(id).type)
            return fail(ErrorCode::mismatch, "check the data's shapes with --input",
                        "input `{}` is {}, the data gives {}", graph.value(id).name,
                        text(graph.value(id).type), text(found->second.tensor_type()));
        inputs_.push_back(found->second);
    }
    VIRIDIAN_TRY(ready_.executable->run(inputs_, outputs_));
    return &outputs_;
}

bool Runner::takes(std::string_view input) const {
    const graph::Graph& graph = ready_.graph;
    for (const graph::ValueId id : graph.inputs())
        if (graph.value(id).name == input) return true;
    return false;
}

const graph::Tensor* Runner::output(std::string_view name) const {
    const graph::Graph& graph = ready_.graph;
    for (std::size_t i = 0; i < graph.outputs().size(); ++i)
        if (graph.value(graph.outputs()[i]).name == name) return &outputs_[i];
    return nullptr;
}

Result<std::map<std::string, graph::Tensor>> Runner::states() const {
    std::map<std::string, graph::Tensor> all;
    const std::vector<graph::State>& states = ready_.graph.states();
    for (std::size_t i = 0; i < states.size(); ++i) {
        VIRIDIAN_TRY(all[ready_.graph.value(states[i].before).name], ready_.executable->state(i));
    }
    return all;
}

Result<void> Runner::set_states(const std::map<std::string, graph::Tensor>& values) {
    const std::vector<graph::State>& states = ready_.graph.states();
    for (std::size_t i = 0; i < states.size(); ++i) {
        const auto found = values.find(ready_.graph.value(states[i].before).name);
        if (found != values.end()) VIRIDIAN_TRY(ready_.executable->set_state(i, found->second));
    }
    return {};
}

Result<std::vector<NamedTensor>> Runner::views(std::span<const std::string> names) {
    std::vector<NamedTensor> found;
    const std::vector<graph::State>& states = ready_.graph.states();
    for (const std::string& name : names) {
        const auto state =
            std::ranges::find(states, name, [&](const graph::State& one) -> const std::string& {
                return ready_.graph.value(one.before).name;
            });
        const auto index = static_cast<std::size_t>(state - states.begin());
        VIRIDIAN_TRY(graph::Tensor view, execute::state_view(*ready_.executable, index));
        found.push_back({name, std::move(view)});
    }
    return found;
}

}  // namespace viridian::train
