// Multiplies before the rows are reshaped: Reshape(x, […, k])·W ⇒ Reshape(x·W, […, n]). It moves
// reshapes out of the way of other rules about products.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_reshape_after_matmul(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != op::MatMul || editor.rank(product.inputs[1]) != 2) return false;
    const Node* reshape = editor.producer(product.inputs[0], op::Reshape);
    if (reshape == nullptr || !editor.used_once(product.inputs[0])) return false;
    const auto from = editor.dims(reshape->inputs[0]);
    const auto to = editor.dims(product.inputs[0]);
    const auto y = editor.dims(product.outputs[0]);
    if (!from || !to || !y || from->size() < 2 || to->size() < 2 || from->back() != to->back()) return false;
    const ValueId inner = editor.add(op::MatMul, {reshape->inputs[0], product.inputs[1]});
    editor.replace(product.outputs[0], editor.add(op::Reshape, {inner, editor.vector_of(*y)}));
    return true;
}

Graph reshape_after_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t k = g.extent(1, 5);
    const bool flatten = g.coin();
    const ValueId x = flatten ? g.input({g.extent(1, 3), g.extent(1, 4), k}) : g.input({6, k});
    const ValueId y = g.add(op::Reshape, {x, g.integers(flatten ? Dims{-1, k} : Dims{2, 3, k})});
    return g.finish({g.add(op::MatMul, {y, g.constant({k, g.extent(1, 4)})})});
}

}  // namespace

Rule reshape_after_matmul() {
    return {.name = "reshape_after_matmul",
            .kind = Kind::alternative,
            .source = "issue 3 (reshape motion through matmul)",
            .equation = "Reshape(x, […, k])·W ⇒ Reshape(x·W, […, n])",
            .guards = "W is a matrix, the last axis of x is k already; nothing else reads the reshaped x",
            .polynomial = true,
            .apply = apply_reshape_after_matmul,
            .instance = reshape_after_matmul_instance};
}

}  // namespace viridian::rewrite
