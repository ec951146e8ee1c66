#include "viridian/rewrite/rules/affine/layer_norm_operand.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

std::optional<LayerNormOperand> LayerNormOperand::of(const Editor& editor, NodeId at,
                                                     graph::KnownOperator op) {
    const Node& node = editor.node(at);
    if (node.op != op || node.inputs.size() != 2) return std::nullopt;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* norm = editor.producer(node.inputs[side], op::LayerNormalization);
        const ValueId operand = node.inputs[1 - side];
        if (norm == nullptr || !editor.used_once(node.inputs[side]) || norm->output(1) != ValueId::none ||
            norm->output(2) != ValueId::none || !editor.fixed(operand) || !editor.fixed(norm->inputs[1]))
            continue;
        const auto scale = editor.dims(norm->inputs[1]);
        auto dims = editor.dims(operand);
        if (!scale || !dims || !editor.same_type(node.inputs[side], node.outputs[0])) continue;
        while (dims->size() > scale->size() && dims->front() == 1) dims->erase(dims->begin());
        if (*dims == *scale) return LayerNormOperand{norm, operand, *dims};
    }
    return std::nullopt;
}

Graph layer_norm_operand_instance(Random& random, ElementType element, const graph::Operator& op) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 4), g.extent(2, 6)};
    const std::int64_t axis = g.coin() ? -1 : -2;
    const Dims normalized(dims.end() + axis, dims.end());
    std::vector<ValueId> inputs = {g.input(dims), g.constant(normalized)};
    if (g.coin()) inputs.push_back(g.constant(normalized));
    const ValueId norm = g.add(op::LayerNormalization, inputs, {{"axis", axis}, {"epsilon", 0.25}});
    Dims operand = normalized;
    if (g.coin()) operand.insert(operand.begin(), 1);
    return g.finish({g.either_way(op, norm, g.constant(operand))});
}

}  // namespace viridian::rewrite
