// Multiplies the last two of three matrices first: (a·b)·c ⇒ a·(b·c). TASO states that matrix multiplication
// is associative; associate_left is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/matmul_chain.hpp"

namespace viridian::rewrite {
namespace {

bool apply_associate_right(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    const Node* left = inner_product(editor, outer, 0);
    if (left == nullptr) return false;
    const ValueId right = editor.add(op::MatMul, {left->inputs[1], outer.inputs[1]});
    editor.replace(outer.outputs[0], editor.add(op::MatMul, {left->inputs[0], right}));
    return true;
}

Graph associate_right_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const auto [a, b, c] = random_matmul_chain(g);
    return g.finish({g.add(op::MatMul, {g.add(op::MatMul, {a, b}), c})});
}

}  // namespace

Rule associate_right() {
    return {.name = "associate_right",
            .kind = Kind::alternative,
            .source = "TASO (matmul is associative)",
            .equation = "(a·b)·c ⇒ a·(b·c)",
            .guards = "all are matrices, or batches of them; nothing else reads the inner product",
            .polynomial = true,
            .apply = apply_associate_right,
            .instance = associate_right_instance};
}

}  // namespace viridian::rewrite
