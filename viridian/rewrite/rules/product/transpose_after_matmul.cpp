// Transposes the result of a product instead of its operands: aᵀ·bᵀ ⇒ (b·a)ᵀ, and axes of batches too. TASO
// has the transpose of a product; transpose_before_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/transposed_product.hpp"

namespace viridian::rewrite {
namespace {

bool apply_transpose_after_matmul(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != op::MatMul) return false;
    std::vector<ValueId> inputs;
    std::optional<Dims> p;
    for (const ValueId input : product.inputs) {
        const Node* transpose = editor.used_once(input) ? editor.producer(input, op::Transpose) : nullptr;
        const auto own = transpose != nullptr ? permutation_of(editor, *transpose) : std::nullopt;
        if (!own || !keeps_matrices(*own) || (p && p != own)) return false;
        p = own;
        inputs.push_back(transpose->inputs[0]);
    }
    if (transposes_matrices(*p)) std::swap(inputs[0], inputs[1]);
    editor.replace(product.outputs[0],
                   editor.add(op::Transpose, {editor.add(op::MatMul, inputs)}, {{"perm", *p}}));
    return true;
}

Graph transpose_after_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const TransposedProduct p = random_transposed_product(g);
    const Dims back = inverse(p.perm);
    const auto transposed = [&](const Dims& dims) {  // an input whose transpose has these dims
        Dims before(dims.size());
        for (std::size_t i = 0; i < dims.size(); ++i) before[static_cast<std::size_t>(p.perm[i])] = dims[i];
        return g.add(op::Transpose, {g.input(before)}, {{"perm", p.perm}});
    };
    // The axes of the batches, as the permutation leaves them.
    Dims a = p.a, b = p.b;
    for (std::size_t i = 0; i + 2 < a.size(); ++i) a[i] = b[i] = p.a[static_cast<std::size_t>(p.perm[i])];
    const ValueId x = transposed(a);
    return g.finish({g.add(op::MatMul, {x, transposed(b)})});
}

}  // namespace

Rule transpose_after_matmul() {
    return {.name = "transpose_after_matmul",
            .kind = Kind::alternative,
            .source = "TASO (transpose of a product)",
            .equation = "aᵀ·bᵀ ⇒ (b·a)ᵀ; axes of batches alike",
            .guards =
                "the same permutation on both sides, which keeps the last two axes last; nothing else reads "
                "the transposes",
            .polynomial = true,
            .apply = apply_transpose_after_matmul,
            .instance = transpose_after_matmul_instance};
}

}  // namespace viridian::rewrite
