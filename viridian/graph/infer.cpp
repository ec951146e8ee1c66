#include "viridian/graph/infer.hpp"

#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_node(Graph& graph, const Node& node) {
    const OperatorRow* row = find_operator(node);
    if (row == nullptr || row->infer == nullptr) return {};
    std::vector<TensorType> inputs;
    std::vector<const Tensor*> constants;
    for (const ValueId input : node.inputs) {
        inputs.push_back(input == ValueId::none ? TensorType() : graph.value(input).type);
        constants.push_back(graph.constant(input));
    }
    Inference inference(node, std::move(inputs), std::move(constants));
    VIRIDIAN_TRY(row->infer(inference));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none && inference.outputs()[i].element != ElementType::undefined)
            graph.set_type(node.outputs[i], inference.outputs()[i]);
    return {};
}

}  // namespace

Result<void> infer_node_types(Graph& graph, NodeId id) {
    const Node node = graph.node(id);
    if (auto done = infer_node(graph, node); !done.ok())
        return std::move(done).error().within(fmt::format("node `{}` ({})", node.name, node.op));
    return {};
}

Result<void> infer_types(Graph& graph) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    for (const NodeId id : order) VIRIDIAN_TRY(infer_node_types(graph, id));
    return {};
}

Result<void> bind_dimension(Graph& graph, const std::string& symbol, std::int64_t value) {
    bool found = false;
    for (const ValueId id : graph.inputs()) {
        TensorType type = graph.value(id).type;
        if (!type.shape) continue;
        for (Dimension& dimension : *type.shape)
            if (!dimension.known() && dimension.symbol() == symbol) {
                dimension = Dimension(value);
                found = true;
            }
        graph.set_type(id, std::move(type));
    }
    if (!found)
        return fail(ErrorCode::missing_entry, "see the model's inputs with `viridian inspect`",
                    "no input has a dimension `{}`", symbol);
    return infer_types(graph);
}

}  // namespace viridian::graph
