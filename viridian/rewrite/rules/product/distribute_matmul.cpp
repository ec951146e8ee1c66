// Multiplies both terms of a sum by a matrix: a·(b ± c) ⇒ a·b ± a·c and (b ± c)·a ⇒ b·a ± c·a. TASO states
// that matrix multiplication is linear; factor_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_distribute_matmul(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != op::MatMul) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* sum = editor.graph().producer(product.inputs[side]);
        if (sum == nullptr || !is_arithmetic(*sum) || (sum->op != op::Add && sum->op != op::Sub) ||
            !editor.used_once(product.inputs[side]) || !editor.same_type(sum->inputs[0], sum->inputs[1]) ||
            editor.rank(product.inputs[side]).value_or(0) < 2)
            continue;
        std::vector<ValueId> terms;
        for (const ValueId term : sum->inputs) {
            std::vector<ValueId> inputs = product.inputs;
            inputs[side] = term;
            terms.push_back(editor.add(op::MatMul, inputs));
        }
        editor.replace(product.outputs[0], editor.add(sum->op, terms));
        return true;
    }
    return false;
}

Graph distribute_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims left = {g.extent(1, 4), g.extent(1, 5)};
    const Dims right = {left[1], g.extent(1, 6)};
    const bool first = g.coin();
    const ValueId other = g.input(first ? right : left);
    const Dims& dims = first ? left : right;
    const ValueId a = g.input(dims);
    const ValueId sum = g.add(g.coin() ? "Add" : "Sub", {a, g.coin() ? g.input(dims) : g.constant(dims)});
    return g.finish({first ? g.add(op::MatMul, {sum, other}) : g.add(op::MatMul, {other, sum})});
}

}  // namespace

Rule distribute_matmul() {
    return {.name = "distribute_matmul",
            .kind = Kind::alternative,
            .source = "TASO (matmul is linear)",
            .equation = "a·(b ± c) ⇒ a·b ± a·c; (b ± c)·a ⇒ b·a ± c·a",
            .guards = "b and c have the same type; nothing else reads their sum",
            .polynomial = true,
            .apply = apply_distribute_matmul,
            .instance = distribute_matmul_instance};
}

}  // namespace viridian::rewrite
