// Joins two constant factors or two constant terms: (x·c)·d ⇒ x·(c·d) and (x + c) + d ⇒ x + (c + d), and −
// and / too. TASO states that both are associative; ONNX Runtime calls it DivMul.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/elementwise/constant_operand.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_merge_scales(Editor& editor, NodeId at) {
    const auto outer = ConstantOperand::of(editor, editor.node(at));
    const auto inner = ConstantOperand::before(editor, outer);
    if (!inner) return false;
    const bool sum = outer->role() == Role::term;
    if (sum != (inner->role() == Role::term)) return false;
    const Role role = inner->role() == Role::divisor ? Role::divisor : outer->role();
    for (const ValueId c : {inner->c, outer->c})
        if (!is_safe_constant(editor, c, role)) return false;
    const bool back_inner = inner->node->op == op::Sub || inner->node->op == op::Div;
    const bool back_outer = outer->node->op == op::Sub || outer->node->op == op::Div;
    const char* forth = sum ? "Add" : "Mul";
    const char* back = sum ? "Sub" : "Div";
    // (x∘c)∘d = x∘(c∘d), and with the inverse inside (x/c)·d = x/(c/d).
    const ValueId both = editor.add(back_inner == back_outer ? forth : back, {inner->c, outer->c});
    editor.replace(outer->node->outputs[0], editor.add(back_inner ? back : forth, {inner->x, both}));
    return true;
}

Graph merge_scales_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const bool sum = g.coin();
    const auto one = [&](ValueId x) {
        const ValueId c = g.constant(constant_operand_dims(g, dims));
        if (g.coin()) return g.add(sum ? "Sub" : "Div", {x, c});
        return g.either_way(sum ? "Add" : "Mul", x, c);
    };
    return g.finish({one(one(g.input(dims)))});
}

}  // namespace

Rule merge_scales() {
    return {
        .name = "merge_scales",
        .source = "TASO (multiplication and addition are associative); ONNX Runtime level 1 (DivMul)",
        .equation = "(x·c)·d ⇒ x·(c·d); (x + c) + d ⇒ x + (c + d); − and / alike",
        .guards =
            "c and d are moderate floating constants (factors from 2^-40 to 2^40, terms to 2^11; 2^-7 to 2^7 "
            "and 2^3 in 16 bits; divisors not 0) that do not enlarge x; nothing else reads what lies between",
        .apply = apply_merge_scales,
        .instance = merge_scales_instance};
}

}  // namespace viridian::rewrite
