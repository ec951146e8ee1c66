// Multiplies the first two of three matrices first: a·(b·c) ⇒ (a·b)·c. TASO states that matrix multiplication
// is associative; associate_right is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/matmul_chain.hpp"

namespace viridian::rewrite {
namespace {

bool apply_associate_left(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    const Node* right = inner_product(editor, outer, 1);
    if (right == nullptr) return false;
    const ValueId left = editor.add(op::MatMul, {outer.inputs[0], right->inputs[0]});
    editor.replace(outer.outputs[0], editor.add(op::MatMul, {left, right->inputs[1]}));
    return true;
}

Graph associate_left_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const auto [a, b, c] = random_matmul_chain(g);
    return g.finish({g.add(op::MatMul, {a, g.add(op::MatMul, {b, c})})});
}

}  // namespace

Rule associate_left() {
    return {.name = "associate_left",
            .kind = Kind::alternative,
            .source = "TASO (matmul is associative)",
            .equation = "a·(b·c) ⇒ (a·b)·c",
            .guards = "all are matrices, or batches of them; nothing else reads the inner product",
            .polynomial = true,
            .apply = apply_associate_left,
            .instance = associate_left_instance};
}

}  // namespace viridian::rewrite
