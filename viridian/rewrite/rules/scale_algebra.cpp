// Constants that scale and shift: joined, taken out of sums, and through functions that let them.
#include <cmath>

#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

struct Term {
    const Node* node;
    ValueId x, c;
};

// g(x, c) or, where g commutes, g(c, x), with a constant that does not enlarge x.
std::optional<Term> with_constant(const Editor& editor, const Node& node) {
    if (!is_arithmetic(node)) return std::nullopt;
    for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
        const bool turned = side == 0 && (node.op == "Sub" || node.op == "Div");
        if (!turned && editor.fixed(node.inputs[side]) && !editor.fixed(node.inputs[1 - side]) &&
            editor.same_type(node.inputs[1 - side], node.outputs[0]))
            return Term{&node, node.inputs[1 - side], node.inputs[side]};
    }
    return std::nullopt;
}

bool divides(const Node& node) { return node.op == "Div"; }

std::string_view family(const Node& node) { return node.op == "Add" || node.op == "Sub" ? "Add" : "Mul"; }

// (x·c)·d ⇒ x·(c·d), (x + c) + d ⇒ x + (c + d); − and / alike
bool join(Editor& editor, NodeId at) {
    const auto outer = with_constant(editor, editor.node(at));
    const Node* before = outer && editor.used_once(outer->x) ? editor.graph().producer(outer->x) : nullptr;
    const auto inner = before != nullptr ? with_constant(editor, *before) : std::nullopt;
    if (!inner || family(*inner->node) != family(*outer->node)) return false;
    const bool division = divides(*inner->node) || divides(*outer->node);
    for (const ValueId c : {inner->c, outer->c})
        if (!moderate(editor, c, family(*outer->node), division)) return false;
    const bool sum = family(*outer->node) == "Add";
    const bool back_inner = inner->node->op == "Sub" || inner->node->op == "Div";
    const bool back_outer = outer->node->op == "Sub" || outer->node->op == "Div";
    const char* forth = sum ? "Add" : "Mul";
    const char* back = sum ? "Sub" : "Div";
    // x∘c∘d = x∘(c∘d); with the inverse inside, x/c·d = x/(c/d).
    const ValueId both = editor.add(back_inner == back_outer ? forth : back, {inner->c, outer->c});
    editor.replace(outer->node->outputs[0], editor.add(back_inner ? back : forth, {inner->x, both}));
    return true;
}

// (x + b)·c ⇒ x·c + b·c
bool distribute(Editor& editor, NodeId at) {
    const auto outer = with_constant(editor, editor.node(at));
    const Node* before = outer && editor.used_once(outer->x) ? editor.graph().producer(outer->x) : nullptr;
    const auto inner = before != nullptr ? with_constant(editor, *before) : std::nullopt;
    if (!inner || family(*outer->node) != "Mul" || family(*inner->node) != "Add" ||
        !moderate(editor, inner->c, "Add", false) ||
        !moderate(editor, outer->c, "Mul", divides(*outer->node)))
        return false;
    const ValueId scaled = editor.add(outer->node->op, {inner->x, outer->c});
    editor.replace(outer->node->outputs[0],
                   editor.add(inner->node->op, {scaled, editor.add(outer->node->op, {inner->c, outer->c})}));
    return true;
}

// Relu(x·c) ⇒ Relu(x)·c, c > 0
bool out_of_relu(Editor& editor, NodeId at) {
    const Node& relu = editor.node(at);
    if (!relu.domain.empty() || (relu.op != "Relu" && relu.op != "LeakyRelu") ||
        !editor.used_once(relu.inputs[0]))
        return false;
    const Node* before = editor.graph().producer(relu.inputs[0]);
    const auto scaled = before != nullptr ? with_constant(editor, *before) : std::nullopt;
    const Tensor* c = scaled && family(*scaled->node) == "Mul" ? editor.constant(scaled->c) : nullptr;
    if (c == nullptr || !graph::is_floating(c->type())) return false;
    for (std::int64_t i = 0; i < c->count(); ++i)
        if (!(c->number(i) > 0) || !std::isfinite(c->number(i))) return false;
    editor.replace(
        relu.outputs[0],
        editor.add(scaled->node->op, {editor.add(relu.op, {scaled->x}, relu.attributes), scaled->c}));
    return true;
}

Dims operand_dims(Sketch& s, const Dims& dims) {
    return s.extent(0, 2) == 0 ? Dims{} : s.coin() ? Dims{dims[1]} : dims;
}

// The field knows whole numbers only, so that dividing stays out of it.
Graph joined_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const bool sum = s.coin();
    const auto one = [&](ValueId x) {
        const ValueId c = s.constant(operand_dims(s, dims));
        if (s.coin()) return s.add(sum ? "Sub" : "Div", {x, c});
        return s.either_way(sum ? "Add" : "Mul", x, c);
    };
    return s.finish({one(one(s.input(dims)))});
}

Graph distribute_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const ValueId b = s.constant(operand_dims(s, dims));
    const ValueId x = s.input(dims);
    const ValueId y = s.coin() ? s.add("Sub", {x, b}) : s.either_way("Add", x, b);
    const ValueId c = s.constant(operand_dims(s, dims));
    return s.finish({s.coin() ? s.add("Div", {y, c}) : s.either_way("Mul", y, c)});
}

Graph relu_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const ValueId x = s.input(dims);
    const ValueId c = s.positive(operand_dims(s, dims));
    return s.finish({s.add(s.coin() ? "Relu" : "LeakyRelu",
                           {s.coin() ? s.add("Div", {x, c}) : s.either_way("Mul", x, c)})});
}

constexpr std::string_view constants =
    "c and d are moderate floating constants (factors from 2^-40 to 2^40, terms to 2^11; 2^-7 to 2^7 and 2^3 "
    "in 16 "
    "bits; divisors not 0) that do not enlarge x; nothing else reads what lies between";

}  // namespace

Rule merge_scales() {
    return {.name = "merge_scales",
            .source = "TASO (multiplication and addition are associative); ONNX Runtime level 1 (DivMul)",
            .equation = "(x·c)·d ⇒ x·(c·d); (x + c) + d ⇒ x + (c + d); − and / alike",
            .guards = constants,
            .apply = join,
            .instance = joined_instance};
}

Rule distribute_scale() {
    return {.name = "distribute_scale",
            .kind = Kind::alternative,
            .source = "TASO (multiplication distributes over addition)",
            .equation = "(x + b)·c ⇒ x·c + b·c; − and / alike",
            .guards =
                "b and c are constants, as moderate as those of merge_scales, that do not enlarge x; nothing "
                "else reads x + b",
            .apply = distribute,
            .instance = distribute_instance};
}

Rule scale_after_relu() {
    return {.name = "scale_after_relu",
            .kind = Kind::alternative,
            .source = "TASO (scalar multiplication through relu); docs/method.md, 4",
            .equation = "Relu(x·c) ⇒ Relu(x)·c; LeakyRelu and division alike",
            .guards = "c is constant, positive everywhere, and does not enlarge x; nothing else reads x·c",
            .apply = out_of_relu,
            .instance = relu_instance};
}

}  // namespace viridian::rewrite
