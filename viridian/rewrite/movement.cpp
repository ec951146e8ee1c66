#include "viridian/rewrite/movement.hpp"

#include <numeric>

#include "viridian/graph/operators/row.hpp"

namespace viridian::rewrite {

std::optional<Dims> permutation_of(const Editor& editor, const Node& transpose) {
    const auto rank = editor.rank(transpose.inputs[0]);
    if (!rank) return std::nullopt;
    Dims reversed(static_cast<std::size_t>(*rank));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return transpose.get("perm", reversed);
}

Dims inverse(const Dims& permutation) {
    Dims back(permutation.size());
    for (std::size_t i = 0; i < permutation.size(); ++i)
        back[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
    return back;
}

std::optional<std::int64_t> axis_of(const Editor& editor, const Node& node, std::int64_t otherwise) {
    const auto rank = editor.rank(node.inputs[0]);
    const std::int64_t axis = node.integer("axis", otherwise);
    return rank ? std::optional(axis < 0 ? axis + *rank : axis) : std::nullopt;
}

std::optional<Parts> Parts::of(const Editor& editor, const Node& node) {
    if (node.op != "Split" || !node.domain.empty() || node.outputs.empty()) return std::nullopt;
    const auto axis = axis_of(editor, node);
    if (!axis) return std::nullopt;
    Parts parts{node.inputs[0], *axis, node.outputs, {}};
    for (const ValueId output : node.outputs) {
        const auto dims = editor.dims(output);
        if (!dims) return std::nullopt;
        parts.sizes.push_back((*dims)[static_cast<std::size_t>(*axis)]);
    }
    return parts;
}

std::vector<ValueId> add_split(Editor& editor, ValueId whole, std::int64_t axis, const Dims& sizes) {
    Node split;
    split.op = "Split";
    split.inputs = {whole, editor.vector_of(sizes)};
    split.attributes["axis"] = axis;
    return editor.add_node(std::move(split), sizes.size());
}

ValueId add_concat(Editor& editor, std::vector<ValueId> parts, std::int64_t axis) {
    return editor.add("Concat", std::move(parts), {{"axis", axis}});
}

const Node* only_reader(const Editor& editor, ValueId value) {
    return editor.used_once(value) && editor.readers(value).size() == 1
               ? &editor.node(editor.readers(value)[0])
               : nullptr;
}

bool is_function(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr && row->operator_class == graph::OperatorClass::elementwise &&
           row->inputs.most == 1 && row->outputs.most == 1;
}

bool is_arithmetic(const Node& node) {
    return node.domain.empty() && node.inputs.size() == 2 &&
           (node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div");
}

}  // namespace viridian::rewrite
