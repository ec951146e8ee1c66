#include "viridian/graph/verify.hpp"

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
    for (const auto& body : node.bodies) VIRIDIAN_TRY(verify(*body));
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

}  // namespace

Result<void> verify(const Graph& graph) {
    for (const NodeId id : graph.nodes()) VIRIDIAN_TRY(verify_node(graph, id));
    for (const ValueId output : graph.outputs())
        if (output == ValueId::none || index(output) >= graph.value_count() ||
            (graph.value(output).kind == ValueKind::intermediate && graph.producer(output) == nullptr))
            return broken("an output of graph `{}` is not defined", graph.name);
    for (const State& state : graph.states())
        if (state.after == ValueId::none) return broken("a state of graph `{}` has no new value", graph.name);
    VIRIDIAN_TRY(topological_order(graph));
    Graph inferred = graph;
    VIRIDIAN_TRY(infer_types(inferred));
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        if (!agree(graph.value(id).type, inferred.value(id).type))
            return broken("`{}` is declared {}, its operator gives {}", graph.value(id).name,
                          text(graph.value(id).type), text(inferred.value(id).type));
    }
    return {};
}

}  // namespace viridian::graph
