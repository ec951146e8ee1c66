// Removes a split of a concatenation, and the reverse: Split([x₁, …, xₙ]) ⇒ x₁, …, xₙ and [Split(x)] ⇒ x.
// TASO and Tensat have both.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// Split(Concat(x₁, …)) ⇒ x₁, …
bool split_of_concat(Editor& editor, const Node& split) {
    const Node* concat = editor.producer(split.inputs[0], op::Concat);
    if (concat == nullptr || concat->inputs.size() != split.outputs.size() ||
        axis_of(editor, split) != axis_of(editor, *concat))
        return false;
    for (std::size_t i = 0; i < split.outputs.size(); ++i) {
        const ValueId output = split.outputs[i];
        if (output == ValueId::none) continue;
        if (!editor.same_type(output, concat->inputs[i]) || editor.is_output(output)) return false;
    }
    for (std::size_t i = 0; i < split.outputs.size(); ++i)
        if (split.outputs[i] != ValueId::none) editor.replace(split.outputs[i], concat->inputs[i]);
    return true;
}

// Concat(Split(x)) ⇒ x
bool concat_of_split(Editor& editor, const Node& concat) {
    const Node* split = editor.producer(concat.inputs[0], op::Split);
    if (split == nullptr || split->outputs != concat.inputs ||
        axis_of(editor, *split) != axis_of(editor, concat) ||
        !editor.replaceable(concat.outputs[0], split->inputs[0]) ||
        !editor.same_type(concat.outputs[0], split->inputs[0]))
        return false;
    editor.replace(concat.outputs[0], split->inputs[0]);
    return true;
}

bool apply_split_concat(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.op.domain().empty()) return false;
    return (node.op == op::Split && split_of_concat(editor, node)) ||
           (node.op == op::Concat && concat_of_split(editor, node));
}

Graph split_concat_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t axis = g.extent(0, 2);
    Dims dims = {g.extent(1, 4), g.extent(1, 5), g.extent(1, 3)};
    std::vector<ValueId> parts;
    Dims sizes;
    for (int i = 0; i < 3; ++i) {
        dims[static_cast<std::size_t>(axis)] = g.extent(1, 4);
        sizes.push_back(dims[static_cast<std::size_t>(axis)]);
        parts.push_back(g.input(dims));
    }
    const ValueId whole = g.add(op::Concat, parts, {{"axis", axis - (g.coin() ? 3 : 0)}});
    const auto again = g.split(g.coin() ? whole : g.used(whole), axis, sizes);
    if (g.graph.producer(g.graph.node(g.graph.value(again[0]).producer).inputs[0])->op == op::Concat)
        return g.finish({g.used(again[0]), g.used(again[1]), g.used(again[2])});
    return g.finish({g.used(g.add(op::Concat, again, {{"axis", axis}}))});
}

}  // namespace

Rule split_concat() {
    return {.name = "split_concat",
            .source = "TASO; Tensat",
            .equation = "Split([x₁, …, xₙ]) ⇒ x₁, …, xₙ; [Split(x)] ⇒ x",
            .guards = "the same axis, sizes and order",
            .apply = apply_split_concat,
            .instance = split_concat_instance};
}

}  // namespace viridian::rewrite
