#include "viridian/graph/verify.hpp"

#include <algorithm>
#include <set>

#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {
namespace {

template <class... Arguments>
Error broken(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return fail(ErrorCode::broken_invariant, "please report it with the model", format,
                std::forward<Arguments>(arguments)...);
}

Result<void> verify_node(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    for (const ValueId input : node.inputs) {
        if (input == ValueId::none) continue;
        if (index(input) >= graph.value_count())
            return broken("node `{}` reads a value that does not exist", node.name);
        const Value& value = graph.value(input);
        if (value.kind == ValueKind::intermediate && graph.producer(input) == nullptr)
            return broken("node `{}` reads `{}`, which nothing defines", node.name, value.name);
    }
    for (const ValueId output : node.outputs) {
        if (output == ValueId::none) continue;
        if (index(output) >= graph.value_count() || graph.value(output).producer != id)
            return broken("an output of node `{}` is not its own", node.name);
    }
    if (const OperatorRow* row = find_operator(node)) {
        const auto inputs = static_cast<int>(node.inputs.size());
        const auto outputs = static_cast<int>(node.outputs.size());
        if (inputs < row->inputs.least || inputs > row->inputs.most || outputs < row->outputs.least ||
            outputs > row->outputs.most)
            return broken("node `{}` ({}) has {} inputs and {} outputs", node.name, node.op, inputs, outputs);
    }
    for (const auto& body : node.bodies) {
        if (!body->states().empty()) return broken("a body of node `{}` has states", node.name);
        VIRIDIAN_TRY(verify(*body));
    }
    return {};
}

bool agree(const TensorType& stated, const TensorType& inferred) {
    if (inferred.element == ElementType::undefined || stated.element == ElementType::undefined) return true;
    if (stated.element != inferred.element) return false;
    if (!stated.shape || !inferred.shape) return true;
    if (stated.shape->size() != inferred.shape->size()) return false;
    for (std::size_t i = 0; i < stated.shape->size(); ++i) {
        const Dimension& a = (*stated.shape)[i];
        const Dimension& b = (*inferred.shape)[i];
        if (a.known() && b.known() && a.value() != b.value()) return false;
    }
    return true;
}

bool is_state(const Graph& graph, ValueId id) {
    return std::ranges::any_of(graph.states(), [&](const State& state) { return state.before == id; });
}

Result<void> verify_states(const Graph& graph) {
    std::set<ValueId> seen;
    for (const State& state : graph.states()) {
        if (state.before == ValueId::none || index(state.before) >= graph.value_count() ||
            graph.value(state.before).kind != ValueKind::state || !seen.insert(state.before).second)
            return broken("a state of graph `{}` is no value of its own", graph.name);
        const std::string& name = graph.value(state.before).name;
        if (state.after == ValueId::none || index(state.after) >= graph.value_count() ||
            (graph.value(state.after).kind == ValueKind::intermediate &&
             graph.producer(state.after) == nullptr))
            return broken("the state `{}` has no new value", name);
        if (state.of != ValueId::none && (state.of == state.before || !is_state(graph, state.of)))
            return broken("the state `{}` belongs to a value that is no other state", name);
    }
    return {};
}

Result<void> verify_state_types(const Graph& graph) {
    for (const State& state : graph.states()) {
        const Value& before = graph.value(state.before);
        const Value& after = graph.value(state.after);
        if (!agree(before.type, after.type))
            return broken("the state `{}` is {}, its new value `{}` is {}", before.name, text(before.type),
                          after.name, text(after.type));
        if (const Tensor* first = graph.first_value(state.before);
            first != nullptr && !agree(before.type, first->tensor_type()))
            return broken("the state `{}` is {}, its first value is {}", before.name, text(before.type),
                          text(first->tensor_type()));
    }
    return {};
}

}  // namespace

Result<void> verify(const Graph& graph) {
    for (const NodeId id : graph.nodes()) VIRIDIAN_TRY(verify_node(graph, id));
    for (const ValueId output : graph.outputs())
        if (output == ValueId::none || index(output) >= graph.value_count() ||
            (graph.value(output).kind == ValueKind::intermediate && graph.producer(output) == nullptr))
            return broken("an output of graph `{}` is not defined", graph.name);
    VIRIDIAN_TRY(verify_states(graph));
    VIRIDIAN_TRY(topological_order(graph));
    Graph inferred = graph;
    VIRIDIAN_TRY(infer_types(inferred));
    VIRIDIAN_TRY(verify_state_types(inferred));
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        if (!agree(graph.value(id).type, inferred.value(id).type))
            return broken("`{}` is declared {}, its operator gives {}", graph.value(id).name,
                          text(graph.value(id).type), text(inferred.value(id).type));
    }
    return {};
}

}  // namespace viridian::graph
