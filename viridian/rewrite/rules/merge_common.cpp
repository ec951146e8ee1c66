#include <algorithm>

#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool same(const Editor& editor, ValueId a, ValueId b) {
    if (a == b) return true;
    const Tensor* x = editor.constant(a);
    const Tensor* y = editor.constant(b);
    return x != nullptr && y != nullptr && x->type() == y->type() && x->dims() == y->dims() &&
           x->content_hash() == y->content_hash() && x->same_bytes(*y);
}

bool same(const Editor& editor, const Node& a, const Node& b) {
    return a.op == b.op && a.domain == b.domain && a.inputs.size() == b.inputs.size() &&
           a.outputs.size() == b.outputs.size() &&
           std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(),
                      [&](ValueId x, ValueId y) { return same(editor, x, y); }) &&
           same_attributes(a.attributes, b.attributes);
}

bool random(const Node& node) {
    return node.op.starts_with("Random") || node.op == "Bernoulli" || node.op == "Multinomial" ||
           node.op == "Dropout";
}

// The smaller id stays, so of several equal nodes all meet in one.
bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.bodies.empty() || random(node)) return false;
    const auto variable = std::find_if(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
        return input != ValueId::none && editor.constant(input) == nullptr;
    });
    if (variable == node.inputs.end()) return false;  // constants fold
    for (const NodeId other : editor.readers(*variable)) {
        const Node& first = editor.node(other);
        if (index(other) >= index(at) || !same(editor, first, node)) continue;
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

Graph instance(Random& random_numbers, ElementType element) {
    Sketch s(random_numbers, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 5)};
    const ValueId x = s.input(dims);
    const std::int64_t axis = s.extent(0, 1);
    const auto sum = [&] { return s.add("ReduceSum", {x, s.integers({axis})}); };
    const ValueId a = sum();
    const ValueId b = s.add("Mul", {x, s.filled({}, 3)});
    return s.finish({s.add("Add", {b, a}), s.add("Mul", {x, sum()})});
}

}  // namespace

Rule merge_common() {
    return {.name = "merge_common",
            .source = "every compiler (common subexpressions)",
            .equation = "y₁ = f(x), y₂ = f(x) ⇒ y₁ = f(x), y₂ = y₁",
            .guards = "same attributes, inputs the same values or equal constants; f is not random",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
