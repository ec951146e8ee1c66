// Any single node, by the graph room's reference kernels: the fallback and the oracle of all others.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Graph;
using graph::ValueId;

// The node alone: its distinct inputs are the graph's, constants stay constants.
Graph single(const Task& task) {
    Graph alone;
    graph::Node node = task.node();
    std::vector<std::pair<ValueId, ValueId>> known;
    for (ValueId& input : node.inputs) {
        if (input == ValueId::none) continue;
        const auto found = std::ranges::find(known, input, [](const auto& pair) { return pair.first; });
        if (found != known.end()) {
            input = found->second;
            continue;
        }
        const graph::Value& value = task.graph.value(input);
        const graph::Tensor* constant = task.graph.constant(input);
        const ValueId copy = constant != nullptr ? alone.add_constant(value.name, *constant)
                                                 : alone.add_input(value.name, value.type);
        known.emplace_back(input, copy);
        input = copy;
    }
    const std::vector<ValueId> outputs = node.outputs;
    const graph::NodeId id = alone.add_node(node, outputs.size());
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueId made = alone.node(id).outputs[i];
        if (outputs[i] == ValueId::none) continue;
        alone.set_type(made, task.type(outputs[i]));
        if (std::ranges::find(task.region.outputs, outputs[i]) != task.region.outputs.end())
            results.push_back(made);
    }
    alone.set_outputs(std::move(results));
    return alone;
}

std::vector<plan::Choice> offers_reference(const Task& task) {
    if (task.region.nodes.size() != 1) return {};
    const auto known = [&](ValueId id) { return task.type(id).known(); };
    if (!std::ranges::all_of(task.region.inputs, known) || !std::ranges::all_of(task.region.outputs, known))
        return {};
    plan::Choice choice = task.plain_choice("reference");
    choice.variant.algorithm = plan::Algorithm::reference;
    return {choice};
}

Result<Kernel> prepare_reference(const Task& task, const plan::Choice& choice) {
    if (task.region.nodes.size() != 1) return unknown_kernel(choice);
    struct State {
        Graph alone;
        std::vector<graph::TensorType> inputs, outputs;
    };
    auto state = std::make_shared<State>(State{single(task), {}, {}});
    for (const ValueId id : task.region.inputs) state->inputs.push_back(task.type(id));
    for (const ValueId id : task.region.outputs) state->outputs.push_back(task.type(id));
    Kernel kernel;
    kernel.run = [state, memory = task.context.memory](const Pointers& pointers) {
        std::vector<graph::Tensor> inputs;
        for (std::size_t i = 0; i < state->inputs.size(); ++i) {
            graph::Tensor tensor(state->inputs[i].element, state->inputs[i].dims());
            std::copy_n(pointers.inputs[i], tensor.byte_count(), tensor.mutable_bytes());
            inputs.push_back(std::move(tensor));
        }
        auto outputs = graph::evaluate(state->alone, inputs, memory);
        if (!outputs.ok()) throw KernelFailure{std::move(outputs).error()};
        for (std::size_t i = 0; i < state->outputs.size(); ++i) {
            const graph::Tensor& tensor = (*outputs)[i];
            invariant(tensor.type() == state->outputs[i].element && tensor.dims() == state->outputs[i].dims(),
                      "a reference kernel makes what the graph declares");
            std::copy_n(tensor.bytes(), tensor.byte_count(), pointers.outputs[i]);
        }
    };
    return kernel;
}

}  // namespace

Family reference_family() { return {"reference", offers_reference, prepare_reference, true}; }

}  // namespace viridian::execute::cpu
