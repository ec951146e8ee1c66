// Joins two transposes: Transpose(Transpose(x, p), q) ⇒ Transpose(x, p∘q), or x if p∘q is the identity. TASO
// and ONNX Runtime's TransposeOptimizer cancel transposes this way.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_merge_transposes(Editor& editor, NodeId at) {
    const Node& second = editor.node(at);
    if (second.op != op::Transpose) return false;
    const Node* first = editor.producer(second.inputs[0], op::Transpose);
    if (first == nullptr) return false;
    const auto p = permutation_of(editor, *first);
    const auto q = permutation_of(editor, second);
    if (!p || !q) return false;
    Dims both;
    for (const std::int64_t axis : *q) both.push_back((*p)[static_cast<std::size_t>(axis)]);
    const bool nothing = std::is_sorted(both.begin(), both.end());
    if (nothing && editor.replaceable(second.outputs[0], first->inputs[0]))
        editor.replace(second.outputs[0], first->inputs[0]);
    else
        editor.replace(second.outputs[0], editor.add(op::Transpose, {first->inputs[0]}, {{"perm", both}}));
    return true;
}

Graph merge_transposes_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t rank = g.extent(2, 4);
    Dims dims;
    for (std::int64_t i = 0; i < rank; ++i) dims.push_back(g.extent(1, 5));
    const Dims p = g.permutation(rank);
    Dims q = g.permutation(rank);
    if (g.coin())  // the inverse, so that both transposes go
        for (std::int64_t i = 0; i < rank; ++i)
            q[static_cast<std::size_t>(p[static_cast<std::size_t>(i)])] = i;
    const ValueId x = g.add(op::Add, {g.input(dims), g.constant(dims)});
    const ValueId y = g.add(op::Transpose, {g.add(op::Transpose, {x}, {{"perm", p}})}, {{"perm", q}});
    return g.finish({g.coin() ? y : g.add(op::Add, {y, y})});
}

}  // namespace

Rule merge_transposes() {
    return {.name = "merge_transposes",
            .source = "TASO (transpose cancelling); ONNX Runtime TransposeOptimizer",
            .equation = "Transpose(Transpose(x, p), q) ⇒ Transpose(x, p∘q), or x where p∘q is the identity",
            .guards = "none",
            .polynomial = true,
            .apply = apply_merge_transposes,
            .instance = merge_transposes_instance};
}

}  // namespace viridian::rewrite
