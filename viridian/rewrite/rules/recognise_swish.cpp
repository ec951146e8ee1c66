#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

Pattern form() {
    const Pattern x = any("x");
    return either({x * op("Sigmoid", {x}), x * op("Sigmoid", {x * number("alpha")})});
}

bool apply(Editor& editor, NodeId at) {
    if (editor.node(at).op != "Mul") return false;
    static const Pattern pattern = form();
    const auto found = match(editor, pattern, at);
    if (!found || !editor.same_type((*found)["x"], editor.node(at).outputs[0])) return false;
    Attributes attributes;
    if (const ValueId alpha = (*found)["alpha"]; alpha != ValueId::none)
        attributes["alpha"] = *editor.scalar(alpha);
    editor.replace(editor.node(at).outputs[0], editor.add("Swish", {(*found)["x"]}, attributes));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const ValueId x = s.input({s.extent(1, 3), s.extent(1, 7)});
    const ValueId inner = s.coin() ? s.either_way("Mul", x, s.scalar(1.702)) : x;
    return s.finish({s.either_way("Mul", x, s.add("Sigmoid", {inner}))});
}

}  // namespace

Rule recognise_swish() {
    return {.name = "recognise_swish",
            .source = "Ramachandran, Zoph and Le 2017; ONNX Swish-24",
            .equation = "x·Sigmoid(αx) ⇒ Swish(x; α)",
            .guards = "α is a number; nothing else reads what lies between",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
