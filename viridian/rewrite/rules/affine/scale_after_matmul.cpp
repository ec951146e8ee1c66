// Scales the result of a product instead of an operand: (a·c)×b ⇒ (a×b)·c for a number c, on either side, and
// division too. SUBSTATION §IV folds scales through attention; scale_before_matmul is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

// A product or quotient of x with a constant number.
struct ScaledOperand {
    const Node* node;
    ValueId x, factor;
};

std::optional<ScaledOperand> scaled_operand(const Editor& editor, ValueId value) {
    for (const graph::KnownOperator each : {op::Mul, op::Div}) {
        const Node* node = editor.producer(value, each);
        if (node == nullptr || !editor.used_once(value) || !graph::is_floating(editor.element(value)))
            continue;
        for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
            const ValueId factor = node->inputs[side], x = node->inputs[1 - side];
            if ((side == 1 || node->op == op::Mul) && editor.scalar(factor) && editor.same_type(x, value) &&
                is_safe_constant(editor, factor, role_of(*node)))
                return ScaledOperand{node, x, factor};
        }
    }
    return std::nullopt;
}

bool apply_scale_after_matmul(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != op::MatMul) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const auto found = scaled_operand(editor, product.inputs[side]);
        if (!found) continue;
        std::vector<ValueId> inputs = product.inputs;
        inputs[side] = found->x;
        editor.replace(product.outputs[0],
                       editor.add(found->node->op, {editor.add(op::MatMul, inputs), found->factor}));
        return true;
    }
    return false;
}

Graph scale_after_matmul_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims a = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    const Dims b = {a[0], a[2], g.extent(1, 6)};
    ValueId x = g.input(a), y = g.input(b);
    ValueId& scaled = g.coin() ? x : y;
    const ValueId factor = g.constant({});
    scaled = g.coin() ? g.add(op::Div, {scaled, factor}) : g.either_way(op::Mul, scaled, factor);
    return g.finish({g.add(op::MatMul, {x, y})});
}

}  // namespace

Rule scale_after_matmul() {
    return {
        .name = "scale_after_matmul",
        .kind = Kind::alternative,
        .source = "SUBSTATION §IV; issue 3 (scale folding through attention)",
        .equation = "(a·c)×b ⇒ (a×b)·c, c a number; on either side, division alike",
        .guards =
            "c is a moderate constant number (merge_scales) and adds no dimension; nothing else reads a·c",
        .polynomial = true,
        .apply = apply_scale_after_matmul,
        .instance = scale_after_matmul_instance};
}

}  // namespace viridian::rewrite
