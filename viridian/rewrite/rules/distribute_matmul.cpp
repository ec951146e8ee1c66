#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != "MatMul" || !product.domain.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* sum = editor.graph().producer(product.inputs[side]);
        if (sum == nullptr || !is_arithmetic(*sum) || (sum->op != "Add" && sum->op != "Sub") ||
            !editor.used_once(product.inputs[side]) || !editor.same_type(sum->inputs[0], sum->inputs[1]) ||
            editor.rank(product.inputs[side]).value_or(0) < 2)
            continue;
        std::vector<ValueId> terms;
        for (const ValueId term : sum->inputs) {
            std::vector<ValueId> inputs = product.inputs;
            inputs[side] = term;
            terms.push_back(editor.add("MatMul", inputs));
        }
        editor.replace(product.outputs[0], editor.add(sum->op, terms));
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims left = {s.extent(1, 4), s.extent(1, 5)};
    const Dims right = {left[1], s.extent(1, 6)};
    const bool first = s.coin();
    const ValueId other = s.input(first ? right : left);
    const Dims& dims = first ? left : right;
    const ValueId a = s.input(dims);
    const ValueId sum = s.add(s.coin() ? "Add" : "Sub", {a, s.coin() ? s.input(dims) : s.constant(dims)});
    return s.finish({first ? s.add("MatMul", {sum, other}) : s.add("MatMul", {other, sum})});
}

}  // namespace

Rule distribute_matmul() {
    return {.name = "distribute_matmul",
            .kind = Kind::alternative,
            .source = "TASO (matmul is linear)",
            .equation = "a·(b ± c) ⇒ a·b ± a·c; (b ± c)·a ⇒ b·a ± c·a",
            .guards = "b and c have the same type; nothing else reads their sum",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
