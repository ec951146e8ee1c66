#include "viridian/gradient/inline_bodies.hpp"

#include <utility>

#include "viridian/graph/infer.hpp"

namespace viridian::gradient {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

Result<void> inline_body(Graph& graph, NodeId id) {
    const Node call = graph.node(id);
    const auto body = call.bodies[0];
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(*body));
    std::vector<ValueId> outside(body->value_count(), ValueId::none);
    for (std::size_t i = 0; i < body->inputs().size(); ++i) outside[index(body->inputs()[i])] = call.input(i);
    const auto find = [&](ValueId inside) {
        if (inside == ValueId::none) return inside;
        ValueId& found = outside[index(inside)];
        if (found == ValueId::none)
            if (const graph::Tensor* constant = body->constant(inside))
                found = graph.add_constant(body->value(inside).name, *constant);
        return found;
    };
    graph.remove_node(id);
    std::vector<ValueId> owed = call.outputs;  // what no node defines yet; ids and names stay
    for (const NodeId inner : order) {
        Node node = body->node(inner);
        const std::vector<ValueId> results = node.outputs;
        for (ValueId& input : node.inputs) input = find(input);
        node.name = fmt::format("{}/{}", call.name, node.name);
        node.origin = call.origin;
        node.phase = call.phase;
        node.twin = call.twin;
        std::vector<std::string> names;
        for (const ValueId result : results)
            names.push_back(
                result == ValueId::none ? "" : fmt::format("{}/{}", call.name, body->value(result).name));
        const NodeId made = graph.add_node(std::move(node), names);
        Node placed = graph.node(made);
        for (std::size_t i = 0; i < results.size(); ++i)
            for (std::size_t k = 0; k < owed.size(); ++k)
                if (results[i] != ValueId::none && body->outputs()[k] == results[i] &&
                    owed[k] != ValueId::none) {
                    placed.outputs[i] = std::exchange(owed[k], ValueId::none);
                    break;
                }
        graph.set_node(made, placed);
        VIRIDIAN_TRY(infer_node_types(graph, made));
        for (std::size_t i = 0; i < results.size(); ++i)
            if (results[i] != ValueId::none) outside[index(results[i])] = placed.outputs[i];
    }
    for (std::size_t k = 0; k < owed.size(); ++k) {  // an input, a constant, or a second name of a value
        if (owed[k] == ValueId::none) continue;
        Node copy;
        copy.op = graph::op::Identity;
        copy.name = call.name;
        copy.origin = call.origin;
        copy.inputs = {find(body->outputs()[k])};
        const NodeId made = graph.add_node(std::move(copy));
        Node placed = graph.node(made);
        placed.outputs = {owed[k]};
        graph.set_node(made, std::move(placed));
        VIRIDIAN_TRY(infer_node_types(graph, made));
    }
    return {};
}

}  // namespace viridian::gradient
