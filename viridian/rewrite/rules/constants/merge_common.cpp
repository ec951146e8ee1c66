// Computes a common subexpression once: y₁ = f(x), y₂ = f(x) ⇒ y₁ = f(x), y₂ = y₁. Every compiler does
// this.
#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool is_same_value(const Editor& editor, ValueId a, ValueId b) {
    if (a == b) return true;
    const Tensor* x = editor.constant(a);
    const Tensor* y = editor.constant(b);
    return x != nullptr && y != nullptr && x->type() == y->type() && x->dims() == y->dims() &&
           x->content_hash() == y->content_hash() && x->same_bytes(*y);
}

bool is_same_node(const Editor& editor, const Node& a, const Node& b) {
    return same_operator(a, b) && a.inputs.size() == b.inputs.size() &&
           a.outputs.size() == b.outputs.size() &&
           std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(),
                      [&](ValueId x, ValueId y) { return is_same_value(editor, x, y); });
}

bool is_random(const Node& node) { return node.op.row() != nullptr && node.op.row()->random; }

// The node with the smaller id stays, so that several equal nodes all become the same one.
bool apply_merge_common(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.bodies.empty() || is_random(node) || is_computed_again(node)) return false;
    const auto variable = std::find_if(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
        return input != ValueId::none && editor.constant(input) == nullptr;
    });
    if (variable == node.inputs.end()) return false;  // fold_constants takes it
    for (const NodeId other : editor.readers(*variable)) {
        const Node& first = editor.node(other);
        if (index(other) >= index(at) || !is_same_node(editor, first, node)) continue;
        bool possible = true;
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i] != ValueId::none)
                possible = possible && first.outputs[i] != ValueId::none &&
                           editor.replaceable(node.outputs[i], first.outputs[i]);
        if (!possible) continue;
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            if (node.outputs[i] != ValueId::none) {
                editor.inherit(first.outputs[i]);
                editor.replace(node.outputs[i], first.outputs[i]);
            }
        return true;
    }
    return false;
}

Graph merge_common_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 5)};
    const ValueId x = g.input(dims);
    const std::int64_t axis = g.extent(0, 1);
    const auto sum = [&] { return g.add(op::ReduceSum, {x, g.integers({axis})}); };
    const ValueId a = sum();
    const ValueId b = g.add(op::Mul, {x, g.filled({}, 3)});
    return g.finish({g.add(op::Add, {b, a}), g.add(op::Mul, {x, sum()})});
}

}  // namespace

Rule merge_common() {
    return {.name = "merge_common",
            .source = "every compiler (common subexpressions)",
            .equation = "y₁ = f(x), y₂ = f(x) ⇒ y₁ = f(x), y₂ = y₁",
            .guards =
                "same attributes, inputs the same values or equal constants; f is not random, and not "
                "computed again to save memory",
            .polynomial = true,
            .apply = apply_merge_common,
            .instance = merge_common_instance};
}

}  // namespace viridian::rewrite
