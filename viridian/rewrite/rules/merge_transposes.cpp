#include <algorithm>
#include <numeric>

#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

std::optional<Dims> permutation(const Editor& editor, const Node& node) {
    const auto rank = editor.rank(node.inputs[0]);
    if (!rank) return std::nullopt;
    Dims reversed(static_cast<std::size_t>(*rank));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return node.get("perm", reversed);
}

bool apply(Editor& editor, NodeId at) {
    const Node& second = editor.node(at);
    if (second.op != "Transpose") return false;
    const Node* first = editor.producer(second.inputs[0], "Transpose");
    if (first == nullptr) return false;
    const auto p = permutation(editor, *first);
    const auto q = permutation(editor, second);
    if (!p || !q) return false;
    Dims both;
    for (const std::int64_t axis : *q) both.push_back((*p)[static_cast<std::size_t>(axis)]);
    const bool nothing = std::is_sorted(both.begin(), both.end());
    if (nothing && editor.replaceable(second.outputs[0], first->inputs[0]))
        editor.replace(second.outputs[0], first->inputs[0]);
    else
        editor.replace(second.outputs[0], editor.add("Transpose", {first->inputs[0]}, {{"perm", both}}));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t rank = s.extent(2, 4);
    Dims dims;
    for (std::int64_t i = 0; i < rank; ++i) dims.push_back(s.extent(1, 5));
    const Dims p = s.permutation(rank);
    Dims q = s.permutation(rank);
    if (s.coin())  // the inverse: both go
        for (std::int64_t i = 0; i < rank; ++i)
            q[static_cast<std::size_t>(p[static_cast<std::size_t>(i)])] = i;
    const ValueId x = s.add("Add", {s.input(dims), s.constant(dims)});
    const ValueId y = s.add("Transpose", {s.add("Transpose", {x}, {{"perm", p}})}, {{"perm", q}});
    return s.finish({s.coin() ? y : s.add("Add", {y, y})});
}

}  // namespace

Rule merge_transposes() {
    return {.name = "merge_transposes",
            .source = "TASO (transpose cancelling); ONNX Runtime TransposeOptimizer",
            .equation = "Transpose(Transpose(x, p), q) ⇒ Transpose(x, p∘q), or x where p∘q is the identity",
            .guards = "none",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
