#include <algorithm>
#include <functional>
#include <queue>

#include "viridian/graph/graph.hpp"

namespace viridian::graph {

Result<std::vector<NodeId>> topological_order(const Graph& graph) {
    const Uses readers = uses(graph);
    std::vector<int> waiting(graph.node_slots(), 0);
    std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
    const std::vector<NodeId> all = graph.nodes();
    for (const NodeId id : all) {
        for (const ValueId input : graph.node(id).inputs)
            if (graph.producer(input) != nullptr) ++waiting[index(id)];
        if (waiting[index(id)] == 0) ready.push(id);
    }
    std::vector<NodeId> order;
    while (!ready.empty()) {
        const NodeId id = ready.top();
        ready.pop();
        order.push_back(id);
        for (const ValueId output : graph.node(id).outputs) {
            if (output == ValueId::none || graph.value(output).producer != id) continue;
            for (const NodeId reader : readers.readers(output))
                if (--waiting[index(reader)] == 0) ready.push(reader);
        }
    }
    if (order.size() != all.size()) {
        const auto stuck =
            std::find_if(all.begin(), all.end(), [&](NodeId id) { return waiting[index(id)] > 0; });
        return fail(ErrorCode::malformed, "export the model again", "the nodes form a cycle through `{}`",
                    graph.node(*stuck).name);
    }
    return order;
}

void remove_dead_nodes(Graph& graph) {
    std::vector<bool> needed(graph.node_slots(), false);
    std::vector<NodeId> open;
    const auto need = [&](ValueId id) {
        if (graph.producer(id) == nullptr) return;
        const NodeId producer = graph.value(id).producer;
        if (!needed[index(producer)]) {
            needed[index(producer)] = true;
            open.push_back(producer);
        }
    };
    for (const ValueId output : graph.outputs()) need(output);
    for (const State& state : graph.states()) need(state.after);
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        for (const ValueId input : graph.node(id).inputs) need(input);
    }
    for (const NodeId id : graph.nodes())
        if (!needed[index(id)]) graph.remove_node(id);
}

}  // namespace viridian::graph
