// Scales an operand of a product instead of its result: (a×b)·c ⇒ (a·c)×b for a number c, and division too.
// SUBSTATION §IV folds scales through attention; scale_after_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_scale_before_matmul(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != op::Mul && node.op != op::Div) || node.outputs.empty()) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const Node* product = editor.producer(node.inputs[side], op::MatMul);
        const ValueId factor = node.inputs[1 - side];
        if (product == nullptr || !graph::is_floating(editor.element(node.outputs[0])) ||
            (node.op == op::Div && side == 1) || !editor.is_number(factor) ||
            !editor.used_once(node.inputs[side]) || !editor.same_type(node.inputs[side], node.outputs[0]) ||
            !is_safe_constant(editor, factor, role_of(node)))
            continue;
        std::vector<ValueId> inputs = product->inputs;
        inputs[0] = editor.add(node.op, {inputs[0], factor});
        editor.replace(node.outputs[0], editor.add(op::MatMul, inputs));
        return true;
    }
    return false;
}

Graph scale_before_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims a = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    const Dims b = {a[0], a[2], g.extent(1, 6)};
    const ValueId x = g.input(a);
    const ValueId product = g.add(op::MatMul, {x, g.input(b)});
    const ValueId factor = g.constant({});
    return g.finish({g.coin() ? g.add(op::Div, {product, factor}) : g.either_way(op::Mul, product, factor)});
}

}  // namespace

Rule scale_before_matmul() {
    return {.name = "scale_before_matmul",
            .kind = Kind::alternative,
            .source = "SUBSTATION §IV; issue 3 (scale folding through attention)",
            .equation = "(a×b)·c ⇒ (a·c)×b, c a number; division alike",
            .guards = "c is a moderate constant (merge_scales) of rank 0; nothing else reads a×b",
            .polynomial = true,
            .apply = apply_scale_before_matmul,
            .instance = scale_before_matmul_instance};
}

}  // namespace viridian::rewrite
