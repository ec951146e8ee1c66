#pragma once
// Turns any graph into one with states, for tests that hold for all of them.
#include <map>

#include "viridian/base/random.hpp"
#include "viridian/graph/graph.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::tests {

// Returns `from` with about half of its floating constants as states whose first values these are. The new
// value of a state is a value of its type, drawn from all that the graph computes, or itself. Nothing if no
// constant can become a state, because shapes depend on it.
inline std::optional<graph::Graph> with_states(const graph::Graph& from, Random& random) {
    using namespace graph;
    Graph to;
    to.name = from.name;
    std::map<ValueId, ValueId> known;
    std::vector<ValueId> states;
    for (const ValueId id : from.inputs()) known[id] = to.add_input(from.value(id).name, from.value(id).type);
    for (std::size_t i = 0; i < from.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        const Tensor* constant = from.constant(id);
        if (constant == nullptr) continue;
        const bool state = is_floating(constant->type()) && random.chance(0.5);
        known[id] = state ? to.add_state(from.value(id).name, *constant)
                          : to.add_constant(from.value(id).name, *constant);
        if (state) states.push_back(known[id]);
    }
    const auto order = topological_order(from);
    if (!order.ok() || states.empty()) return std::nullopt;
    for (const NodeId id : *order) {
        Node node = from.node(id);
        const std::vector<ValueId> outputs = node.outputs;
        for (ValueId& input : node.inputs)
            if (input != ValueId::none) input = known.at(input);
        std::vector<std::string> names;
        for (const ValueId output : outputs)
            names.push_back(output == ValueId::none ? "" : from.value(output).name);
        const NodeId added = to.add_node(std::move(node), names);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (outputs[i] != ValueId::none) known[outputs[i]] = to.node(added).outputs[i];
    }
    std::vector<ValueId> outputs;
    for (const ValueId id : from.outputs()) outputs.push_back(known.at(id));
    to.set_outputs(std::move(outputs));
    for (const ValueId state : states) to.set_after(state, state);
    if (!infer_types(to).ok()) return std::nullopt;
    for (const ValueId id : run_outputs(to))
        if (!to.value(id).type.known()) return std::nullopt;
    for (const ValueId state : states) {
        // What a step computes from its own state: half of the states get new values that read them.
        std::vector<ValueId> fitting = {state};
        for (std::size_t i = 0; i < to.value_count(); ++i)
            if (const auto id = static_cast<ValueId>(i); to.value(id).type == to.value(state).type)
                fitting.push_back(id);
        if (random.chance(0.5))
            fitting = {to.add(random.chance(0.5) ? op::Add : op::Mul,
                              {state, fitting[random.below(fitting.size())]})};
        to.set_after(state, fitting[random.below(fitting.size())]);
    }
    if (!infer_types(to).ok()) return std::nullopt;
    return to;
}

}  // namespace viridian::tests
