// Scales by a positive constant behind Relu: Relu(x·c) ⇒ Relu(x)·c, and LeakyRelu and division too. TASO
// moves scalar multiplication through relu (docs/method.md, 4).
#include <cmath>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/elementwise/constant_operand.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_scale_after_relu(Editor& editor, NodeId at) {
    const Node& relu = editor.node(at);
    if ((relu.op != op::Relu && relu.op != op::LeakyRelu) || !editor.used_once(relu.inputs[0])) return false;
    const Node* before = editor.graph().producer(relu.inputs[0]);
    const auto scaled = before != nullptr ? ConstantOperand::of(editor, *before) : std::nullopt;
    const Tensor* c = scaled && scaled->role() != Role::term ? editor.constant(scaled->c) : nullptr;
    if (c == nullptr || !graph::is_floating(c->type())) return false;
    for (std::int64_t i = 0; i < c->count(); ++i)
        if (!(c->number(i) > 0) || !std::isfinite(c->number(i))) return false;
    editor.replace(
        relu.outputs[0],
        editor.add(scaled->node->op, {editor.add(relu.op, {scaled->x}, relu.attributes), scaled->c}));
    return true;
}

Graph scale_after_relu_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const ValueId x = g.input(dims);
    const ValueId c = g.positive(constant_operand_dims(g, dims));
    return g.finish({g.add(g.coin() ? "Relu" : "LeakyRelu",
                           {g.coin() ? g.add(op::Div, {x, c}) : g.either_way(op::Mul, x, c)})});
}

}  // namespace

Rule scale_after_relu() {
    return {.name = "scale_after_relu",
            .kind = Kind::alternative,
            .source = "TASO (scalar multiplication through relu); docs/method.md, 4",
            .equation = "Relu(x·c) ⇒ Relu(x)·c; LeakyRelu and division alike",
            .guards = "c is constant, positive everywhere, and does not enlarge x; nothing else reads x·c",
            .apply = apply_scale_after_relu,
            .instance = scale_after_relu_instance};
}

}  // namespace viridian::rewrite
