#include "viridian/graph/infer.hpp"

#include <algorithm>

#include "viridian/graph/infer_bodies.hpp"
#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/types_of.hpp"

namespace viridian::graph {
namespace {

// Kernels and shape rules read the inputs that the row requires without asking.
Result<void> check_inputs(const OperatorRow& row, const Node& node) {
    const std::size_t required =
        row.inputs.most == unbounded
            ? std::max(node.inputs.size(), static_cast<std::size_t>(row.inputs.least))
            : static_cast<std::size_t>(row.inputs.least);
    for (std::size_t i = 0; i < required; ++i)
        if (node.input(i) == ValueId::none)
            return fail(ErrorCode::malformed, "export the model again", "its input {} is missing", i);
    if (node.inputs.size() > static_cast<std::size_t>(row.inputs.most))
        return fail(ErrorCode::malformed, "export the model again", "it has {} inputs", node.inputs.size());
    return {};
}

// Checks that the known dimensions of `type` belong to a tensor that can exist. Shape rules may therefore
// multiply the dimensions of one input.
Result<void> check_size(const TensorType& type) {
    Dims known;
    for (const Dimension& dimension : type.shape.value_or(Shape()))
        if (dimension.known()) known.push_back(dimension.value());
    VIRIDIAN_TRY(element_count(known));
    return {};
}

Result<void> infer_node(Graph& graph, NodeId id) {
    const Node node = graph.node(id);
    const OperatorRow* row = find_operator(node);
    if (row != nullptr) VIRIDIAN_TRY(check_inputs(*row, node));
    std::vector<TensorType> inputs = types_of(graph, node.inputs);
    std::vector<const Tensor*> constants;
    for (const ValueId input : node.inputs) constants.push_back(graph.constant(input));
    const auto set = [&](std::size_t i, const TensorType& type) {
        if (i < node.outputs.size() && node.outputs[i] != ValueId::none &&
            type.element != ElementType::undefined && graph.value(node.outputs[i]).type != type)
            graph.set_type(node.outputs[i], type);
    };
    Node typed;
    if (!node.bodies.empty()) {
        VIRIDIAN_TRY(typed, infer_bodies(node, inputs));
        graph.set_node(id, typed);
    }
    if (row != nullptr && row->infer != nullptr) {
        Inference inference(node.bodies.empty() ? node : typed, std::move(inputs), std::move(constants));
        VIRIDIAN_TRY(row->infer(inference));
        for (const TensorType& output : inference.outputs()) VIRIDIAN_TRY(check_size(output));
        for (std::size_t i = 0; i < node.outputs.size(); ++i) set(i, inference.outputs()[i]);
    } else if (typed.bodies.size() == 1) {  // a function or fused operator: what its body says
        const std::vector<TensorType> outputs = output_types(*typed.bodies[0]);
        for (std::size_t i = 0; i < outputs.size(); ++i) set(i, outputs[i]);
    }
    return {};
}

}  // namespace

Result<void> infer_node_types(Graph& graph, NodeId id) {
    if (auto done = infer_node(graph, id); !done.ok()) {
        const Node& node = graph.node(id);
        return std::move(done).error().within(fmt::format("node `{}` ({})", node.name, node.op));
    }
    return {};
}

Result<void> infer_types(Graph& graph) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    for (const NodeId id : order) VIRIDIAN_TRY(infer_node_types(graph, id));
    return {};
}

constexpr std::int64_t most_elements = std::int64_t{1} << 40;  // of an input: 4 TiB of f32

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
        std::int64_t elements = 1;
        for (const Dimension& dimension : *type.shape)
            if (dimension.known() && dimension.value() > 0 &&
                (__builtin_mul_overflow(elements, dimension.value(), &elements) || elements > most_elements))
                return fail(ErrorCode::limit_exceeded, "give a smaller size",
                            "with `{}` = {}, the input `{}` has more than 2^40 elements", symbol, value,
                            graph.value(id).name);
        graph.set_type(id, std::move(type));
    }
    if (!found)
        return fail(ErrorCode::missing_entry, "see the model's inputs with `viridian inspect`",
                    "no input has a dimension `{}`", symbol);
    return infer_types(graph);
}

}  // namespace viridian::graph
