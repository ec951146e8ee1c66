// Concatenations of concatenations, splits of splits.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool flatten_concat(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    if (outer.op != "Concat" || !outer.domain.empty()) return false;
    const auto axis = axis_of(editor, outer);
    std::vector<ValueId> parts;
    bool found = false;
    for (const ValueId part : outer.inputs) {
        const Node* inner = editor.producer(part, "Concat");
        if (axis && inner != nullptr && editor.used_once(part) && axis_of(editor, *inner) == axis) {
            parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
            found = true;
        } else {
            parts.push_back(part);
        }
    }
    if (!found) return false;
    editor.replace(outer.outputs[0], add_concat(editor, std::move(parts), *axis));
    return true;
}

bool flatten_split(Editor& editor, NodeId at) {
    const auto inner = Parts::of(editor, editor.node(at));
    const Node* outer =
        inner && editor.used_once(inner->whole) ? editor.producer(inner->whole, "Split") : nullptr;
    const auto parts = outer != nullptr ? Parts::of(editor, *outer) : std::nullopt;
    if (!parts || parts->axis != inner->axis) return false;
    std::vector<ValueId> before;
    Dims sizes;
    for (std::size_t i = 0; i < parts->values.size(); ++i) {
        if (parts->values[i] != inner->whole) {
            before.push_back(parts->values[i]);
            sizes.push_back(parts->sizes[i]);
        } else {
            before.insert(before.end(), inner->values.begin(), inner->values.end());
            sizes.insert(sizes.end(), inner->sizes.begin(), inner->sizes.end());
        }
    }
    const std::vector<ValueId> fresh = add_split(editor, parts->whole, parts->axis, sizes);
    for (std::size_t i = 0; i < fresh.size(); ++i) editor.replace(before[i], fresh[i]);
    return true;
}

Graph concat_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t axis = s.extent(0, 2);
    Dims dims = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 5)};
    const auto part = [&] {
        dims[static_cast<std::size_t>(axis)] = s.extent(1, 4);
        return s.input(dims);
    };
    const ValueId a = part(), b = part();
    const ValueId inner = s.add("Concat", {a, b}, {{"axis", axis}});
    const ValueId c = part();
    const std::vector<ValueId> parts = s.coin() ? std::vector{inner, c} : std::vector{c, inner, a};
    return s.finish({s.add("Concat", parts, {{"axis", s.coin() ? axis : axis - 3}})});
}

Graph split_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const auto split = [&](ValueId x, const Dims& sizes) {
        Node node;
        node.op = "Split";
        node.inputs = {x, s.integers(sizes)};
        node.attributes["axis"] = std::int64_t{1};
        return s.graph.node(s.graph.add_node(node, sizes.size())).outputs;
    };
    const Dims inner = {s.extent(1, 3), s.extent(1, 4)};
    const Dims outer = {s.extent(1, 3), inner[0] + inner[1], s.extent(1, 2)};
    const auto parts =
        split(s.input({s.extent(1, 3), outer[0] + outer[1] + outer[2], s.extent(1, 3)}), outer);
    const auto pieces = split(parts[1], inner);
    return s.finish({s.used(parts[0]), pieces[0], s.used(pieces[1]), parts[2]});
}

}  // namespace

Rule merge_concats() {
    return {.name = "merge_concats",
            .source = "TASO; Tensat (concat is associative)",
            .equation = "[x, [y, z]] ⇒ [x, y, z]",
            .guards = "the same axis; nothing else reads the inner concatenation",
            .apply = flatten_concat,
            .instance = concat_instance};
}

Rule merge_splits() {
    return {.name = "merge_splits",
            .source = "TASO; Tensat (split is associative)",
            .equation = "Split(Split(x)ᵢ) ⇒ Split(x)",
            .guards = "the same axis, known extents; nothing else reads the part that is split again",
            .apply = flatten_split,
            .instance = split_instance};
}

}  // namespace viridian::rewrite
