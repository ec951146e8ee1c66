// Joins a concatenation of concatenations: [x, [y, z]] ⇒ [x, y, z]. TASO and Tensat state that concatenation
// is associative.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_merge_concats(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    if (outer.op != op::Concat) return false;
    const auto axis = axis_of(editor, outer);
    std::vector<ValueId> parts;
    bool found = false;
    for (const ValueId part : outer.inputs) {
        const Node* inner = editor.producer(part, op::Concat);
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

Graph merge_concats_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t axis = g.extent(0, 2);
    Dims dims = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    const auto part = [&] {
        dims[static_cast<std::size_t>(axis)] = g.extent(1, 4);
        return g.input(dims);
    };
    const ValueId a = part(), b = part();
    const ValueId inner = g.add(op::Concat, {a, b}, {{"axis", axis}});
    const ValueId c = part();
    const std::vector<ValueId> parts = g.coin() ? std::vector{inner, c} : std::vector{c, inner, a};
    return g.finish({g.add(op::Concat, parts, {{"axis", g.coin() ? axis : axis - 3}})});
}

}  // namespace

Rule merge_concats() {
    return {.name = "merge_concats",
            .source = "TASO; Tensat (concat is associative)",
            .equation = "[x, [y, z]] ⇒ [x, y, z]",
            .guards = "the same axis; nothing else reads the inner concatenation",
            .apply = apply_merge_concats,
            .instance = merge_concats_instance};
}

}  // namespace viridian::rewrite
