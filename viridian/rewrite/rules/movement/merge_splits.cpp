// Joins a split of a split: Split(Split(x)ᵢ) ⇒ Split(x). TASO and Tensat state that splitting is associative.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_merge_splits(Editor& editor, NodeId at) {
    const auto inner = Parts::of(editor, editor.node(at));
    const Node* outer =
        inner && editor.used_once(inner->whole) ? editor.producer(inner->whole, op::Split) : nullptr;
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

Graph merge_splits_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims inner = {g.extent(1, 3), g.extent(1, 4)};
    const Dims outer = {g.extent(1, 3), inner[0] + inner[1], g.extent(1, 2)};
    const auto parts =
        g.split(g.input({g.extent(1, 3), outer[0] + outer[1] + outer[2], g.extent(1, 3)}), 1, outer);
    const auto pieces = g.split(parts[1], 1, inner);
    return g.finish({g.used(parts[0]), pieces[0], g.used(pieces[1]), parts[2]});
}

}  // namespace

Rule merge_splits() {
    return {.name = "merge_splits",
            .source = "TASO; Tensat (split is associative)",
            .equation = "Split(Split(x)ᵢ) ⇒ Split(x)",
            .guards = "the same axis, known extents; nothing else reads the part that is split again",
            .apply = apply_merge_splits,
            .instance = merge_splits_instance};
}

}  // namespace viridian::rewrite
