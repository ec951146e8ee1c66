// Multiplies a sum of constants out: (x + b)·c ⇒ x·c + b·c, and − and / too. TASO states that multiplication
// distributes over addition.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/elementwise/constant_operand.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_distribute_scale(Editor& editor, NodeId at) {
    const auto outer = ConstantOperand::of(editor, editor.node(at));
    const auto inner = ConstantOperand::before(editor, outer);
    if (!inner || outer->role() == Role::term || inner->role() != Role::term ||
        !is_safe_constant(editor, inner->c, Role::term) || !is_safe_constant(editor, outer->c, outer->role()))
        return false;
    const ValueId scaled = editor.add(outer->node->op, {inner->x, outer->c});
    editor.replace(outer->node->outputs[0],
                   editor.add(inner->node->op, {scaled, editor.add(outer->node->op, {inner->c, outer->c})}));
    return true;
}

Graph distribute_scale_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const ValueId b = g.constant(constant_operand_dims(g, dims));
    const ValueId x = g.input(dims);
    const ValueId y = g.coin() ? g.add(op::Sub, {x, b}) : g.either_way(op::Add, x, b);
    const ValueId c = g.constant(constant_operand_dims(g, dims));
    return g.finish({g.coin() ? g.add(op::Div, {y, c}) : g.either_way(op::Mul, y, c)});
}

}  // namespace

Rule distribute_scale() {
    return {.name = "distribute_scale",
            .kind = Kind::alternative,
            .source = "TASO (multiplication distributes over addition)",
            .equation = "(x + b)·c ⇒ x·c + b·c; − and / alike",
            .guards =
                "b and c are constants, as moderate as those of merge_scales, that do not enlarge x; nothing "
                "else reads x + b",
            .apply = apply_distribute_scale,
            .instance = distribute_scale_instance};
}

}  // namespace viridian::rewrite
