// Takes a common matrix out of a sum: a·b ± a·c ⇒ a·(b ± c) and b·a ± c·a ⇒ (b ± c)·a. TASO states that
// matrix multiplication is linear; distribute_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/product/matrix_product.hpp"

namespace viridian::rewrite {
namespace {

bool apply_factor_matmul(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if ((sum.op != op::Add && sum.op != op::Sub) || sum.inputs[0] == sum.inputs[1]) return false;
    const Node* a = matrix_product(editor, sum.inputs[0]);
    const Node* b = matrix_product(editor, sum.inputs[1]);
    if (a == nullptr || b == nullptr) return false;
    for (const std::size_t shared : {std::size_t{0}, std::size_t{1}}) {
        const std::size_t apart = 1 - shared;
        if (a->inputs[shared] != b->inputs[shared] || !editor.same_type(a->inputs[apart], b->inputs[apart]))
            continue;
        const ValueId terms = editor.add(sum.op, {a->inputs[apart], b->inputs[apart]});
        std::vector<ValueId> inputs(2);
        inputs[shared] = a->inputs[shared];
        inputs[apart] = terms;
        editor.replace(sum.outputs[0], editor.add(op::MatMul, inputs));
        return true;
    }
    return false;
}

Graph factor_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims left = {g.extent(1, 4), g.extent(1, 5)};
    const Dims right = {left[1], g.extent(1, 6)};
    const std::string op = g.coin() ? "Add" : "Sub";
    if (g.coin()) {
        const ValueId a = g.input(left);
        const ValueId b = g.input(right);
        return g.finish({g.add(op, {g.add(op::MatMul, {a, b}), g.add(op::MatMul, {a, g.constant(right)})})});
    }
    const ValueId b = g.input(right);
    const ValueId a = g.input(left);
    return g.finish({g.add(op, {g.add(op::MatMul, {a, b}), g.add(op::MatMul, {g.input(left), b})})});
}

}  // namespace

Rule factor_matmul() {
    return {.name = "factor_matmul",
            .kind = Kind::alternative,
            .source = "TASO (matmul is linear)",
            .equation = "a·b ± a·c ⇒ a·(b ± c); b·a ± c·a ⇒ (b ± c)·a",
            .guards = "b and c have the same type; nothing else reads either product",
            .polynomial = true,
            .apply = apply_factor_matmul,
            .instance = factor_matmul_instance};
}

}  // namespace viridian::rewrite
