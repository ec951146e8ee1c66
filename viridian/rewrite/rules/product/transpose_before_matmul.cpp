// Transposes the operands of a product instead of its result: (a·b)ᵀ ⇒ bᵀ·aᵀ, and axes of batches too. TASO
// has the transpose of a product; transpose_after_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/transposed_product.hpp"

namespace viridian::rewrite {
namespace {

bool apply_transpose_before_matmul(Editor& editor, NodeId at) {
    const Node& transpose = editor.node(at);
    if (transpose.op != op::Transpose) return false;
    const Node* product = editor.producer(transpose.inputs[0], op::MatMul);
    const auto p = permutation_of(editor, transpose);
    if (product == nullptr || !editor.used_once(transpose.inputs[0]) || !p || !keeps_matrices(*p))
        return false;
    const auto rank = static_cast<std::int64_t>(p->size());
    if (editor.rank(product->inputs[0]) != rank || editor.rank(product->inputs[1]) != rank) return false;
    std::vector<ValueId> inputs;
    for (const ValueId input : product->inputs)
        inputs.push_back(editor.add(op::Transpose, {input}, {{"perm", *p}}));
    if (transposes_matrices(*p)) std::swap(inputs[0], inputs[1]);
    editor.replace(transpose.outputs[0], editor.add(op::MatMul, inputs));
    return true;
}

Graph transpose_before_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const TransposedProduct p = random_transposed_product(g);
    const ValueId a = g.input(p.a);
    return g.finish({g.add(op::Transpose, {g.add(op::MatMul, {a, g.input(p.b)})}, {{"perm", p.perm}})});
}

}  // namespace

Rule transpose_before_matmul() {
    return {.name = "transpose_before_matmul",
            .kind = Kind::alternative,
            .source = "TASO (transpose of a product)",
            .equation = "(a·b)ᵀ ⇒ bᵀ·aᵀ; axes of batches alike",
            .guards =
                "the last two axes stay last; both operands have the product's rank; nothing else reads the "
                "product",
            .polynomial = true,
            .apply = apply_transpose_before_matmul,
            .instance = transpose_before_matmul_instance};
}

}  // namespace viridian::rewrite
