#include "viridian/plan/precision.hpp"

#include <algorithm>

namespace viridian::plan {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

bool rounded(const Graph& graph, ValueId value, const Format& format) {
    return format.element == ElementType::bf16 && graph.value(value).type.element != ElementType::bf16;
}

bool spreads(Safety safety) { return safety == Safety::infer || safety == Safety::clear; }

}  // namespace

Safety bf16_safety(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row == nullptr ? Safety::deny : row->precision.safety;
}

std::vector<bool> f32_nodes(const Graph& graph) {
    std::vector<bool> reached(graph.node_slots()), denied(graph.node_slots());
    const auto order = topological_order(graph);
    if (!order.ok()) return std::vector<bool>(graph.node_slots(), true);
    const auto producer = [&](ValueId value) {
        return value == ValueId::none ? NodeId::none : graph.value(value).producer;
    };
    for (const NodeId id : *order) {
        const Node& node = graph.node(id);
        const Safety safety = bf16_safety(node);
        bool after = false;
        for (const ValueId input : node.inputs)
            if (const NodeId from = producer(input); from != NodeId::none)
                after = after || reached[index(from)];
        reached[index(id)] = safety == Safety::deny || (spreads(safety) && after);
        denied[index(id)] = safety == Safety::deny || (safety == Safety::infer && after);
    }
    for (auto id = order->rbegin(); id != order->rend(); ++id) {
        if (!denied[index(*id)]) continue;
        for (const ValueId input : graph.node(*id).inputs)
            if (const NodeId from = producer(input);
                from != NodeId::none && reached[index(from)] && spreads(bf16_safety(graph.node(from))))
                denied[index(from)] = true;
    }
    return denied;
}

bool rounds(const Graph& graph, const Region& region, const Choice& choice) {
    return rounds_at(graph, region, choice, [](NodeId) { return true; });
}

bool rounds(const Graph& graph, const Assignment& assignment) {
    return std::ranges::any_of(assignment.regions, [&](const AssignedRegion& assigned) {
        return rounds(graph, assigned.region, assigned.choice);
    });
}

bool rounds_state(const Graph& graph, const Region& region, const Choice& choice) {
    if (!rounds(graph, region, choice)) return false;
    const auto port_of = [](const std::vector<ValueId>& ports, ValueId value) {
        return static_cast<std::size_t>(std::ranges::find(ports, value) - ports.begin());
    };
    return std::ranges::any_of(graph.states(), [&](const graph::State& state) {
        const std::size_t after = port_of(region.outputs, state.after);
        if (after == region.outputs.size()) return false;
        const std::size_t before = port_of(region.inputs, state.before);
        return rounded(graph, state.after, choice.outputs[after]) ||
               (before < region.inputs.size() && rounded(graph, state.before, choice.inputs[before]));
    });
}

bool rounds_at(const Graph& graph, const Region& region, const Choice& choice,
               const std::function<bool(NodeId)>& must_not) {
    for (std::size_t i = 0; i < region.inputs.size() && i < choice.inputs.size(); ++i) {
        if (!rounded(graph, region.inputs[i], choice.inputs[i])) continue;
        for (const NodeId id : region.nodes)
            if (std::ranges::find(graph.node(id).inputs, region.inputs[i]) != graph.node(id).inputs.end() &&
                must_not(id))
                return true;
    }
    for (std::size_t i = 0; i < region.outputs.size() && i < choice.outputs.size(); ++i)
        if (rounded(graph, region.outputs[i], choice.outputs[i]) &&
            must_not(graph.value(region.outputs[i]).producer))
            return true;
    return false;
}

bool rounds_at(const Graph& graph, const Region& region, const Choice& choice,
               const std::vector<bool>& f32_nodes) {
    return rounds_at(graph, region, choice,
                     [&](NodeId id) { return index(id) < f32_nodes.size() && f32_nodes[index(id)]; });
}

}  // namespace viridian::plan
