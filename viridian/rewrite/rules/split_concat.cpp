#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

std::optional<std::int64_t> axis_of(const Editor& editor, const Node& node) {
    const auto rank = editor.rank(node.inputs[0]);
    const std::int64_t axis = node.integer("axis", 0);
    return rank ? std::optional(axis < 0 ? axis + *rank : axis) : std::nullopt;
}

// Split(Concat(x₁, …)) ⇒ x₁, …
bool split_of_concat(Editor& editor, const Node& split) {
    const Node* concat = editor.producer(split.inputs[0], "Concat");
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
    const Node* split = editor.producer(concat.inputs[0], "Split");
    if (split == nullptr || split->outputs != concat.inputs ||
        axis_of(editor, *split) != axis_of(editor, concat) ||
        !editor.replaceable(concat.outputs[0], split->inputs[0]) ||
        !editor.same_type(concat.outputs[0], split->inputs[0]))
        return false;
    editor.replace(concat.outputs[0], split->inputs[0]);
    return true;
}

bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.domain.empty()) return false;
    return (node.op == "Split" && split_of_concat(editor, node)) ||
           (node.op == "Concat" && concat_of_split(editor, node));
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t axis = s.extent(0, 2);
    Dims dims = {s.extent(1, 4), s.extent(1, 5), s.extent(1, 3)};
    std::vector<ValueId> parts;
    Dims sizes;
    for (int i = 0; i < 3; ++i) {
        dims[static_cast<std::size_t>(axis)] = s.extent(1, 4);
        sizes.push_back(dims[static_cast<std::size_t>(axis)]);
        parts.push_back(s.input(dims));
    }
    const auto split = [&](ValueId x) {
        Node node;
        node.op = "Split";
        node.inputs = {x, s.integers(sizes)};
        node.attributes["axis"] = axis;
        return s.graph.node(s.graph.add_node(node, 3)).outputs;
    };
    const ValueId whole = s.add("Concat", parts, {{"axis", axis - (s.coin() ? 3 : 0)}});
    const auto again = split(s.coin() ? whole : s.used(whole));
    if (s.graph.producer(s.graph.node(s.graph.value(again[0]).producer).inputs[0])->op == "Concat")
        return s.finish({s.used(again[0]), s.used(again[1]), s.used(again[2])});
    return s.finish({s.used(s.add("Concat", again, {{"axis", axis}}))});
}

}  // namespace

Rule split_concat() {
    return {.name = "split_concat",
            .source = "TASO; Tensat",
            .equation = "Split([x₁, …, xₙ]) ⇒ x₁, …, xₙ; [Split(x)] ⇒ x",
            .guards = "the same axis, sizes and order",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
