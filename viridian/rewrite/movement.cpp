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
    if (node.op != op::Split || node.outputs.empty()) return std::nullopt;
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
    split.op = op::Split;
    split.inputs = {whole, editor.vector_of(sizes)};
    split.attributes["axis"] = axis;
    return editor.add_node(std::move(split), sizes.size());
}

ValueId add_concat(Editor& editor, std::vector<ValueId> parts, std::int64_t axis) {
    return editor.add(op::Concat, std::move(parts), {{"axis", axis}});
}

const Node* joined_input(const Editor& editor, const Node& node) {
    const Node* joined = editor.producer(node.inputs[0], op::Concat);
    return joined != nullptr && editor.used_once(node.inputs[0]) && joined->inputs.size() > 1 ? joined
                                                                                              : nullptr;
}

const Node* only_reader(const Editor& editor, ValueId value) {
    return editor.used_once(value) && editor.readers(value).size() == 1
               ? &editor.node(editor.readers(value)[0])
               : nullptr;
}

bool same_beside(const Editor& editor, ValueId a, ValueId b, std::size_t axis) {
    auto first = editor.dims(a);
    auto second = editor.dims(b);
    if (!first || !second || first->size() != second->size() || axis >= first->size()) return false;
    (*first)[axis] = (*second)[axis];
    return *first == *second && editor.element(a) == editor.element(b);
}

bool is_function(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr && row->elements == graph::Elements::pointwise &&
           row->operator_class == graph::OperatorClass::elementwise && row->inputs.most == 1;
}

bool is_arithmetic(const Node& node) {
    return node.op.domain().empty() && node.inputs.size() == 2 &&
           (node.op == op::Add || node.op == op::Sub || node.op == op::Mul || node.op == op::Div);
}

bool moves_elements(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr &&
           (row->elements == graph::Elements::reshaped || row->elements == graph::Elements::permuted);
}

ValueId moved_alike(Editor& editor, const Node& movement, ValueId x) {
    std::vector<ValueId> inputs = movement.inputs;
    inputs[0] = x;
    return editor.add(movement.op, inputs, movement.attributes);
}

bool exchange(Editor& editor, const Node& first, const Node& second) {
    if (!editor.used_once(second.inputs[0])) return false;
    std::vector<ValueId> inner = second.inputs;
    inner[0] = first.inputs[0];
    std::vector<ValueId> outer = first.inputs;
    outer[0] = editor.like(second, inner);
    editor.replace(second.outputs[0], editor.like(first, outer));
    return true;
}

}  // namespace viridian::rewrite
