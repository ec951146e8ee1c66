#include <cmath>
#include <numbers>

#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// ½·x·g in the orders that exporters write.
Pattern half_of(const Pattern& g) {
    const Pattern x = any("x");
    return either({(x * g) * 0.5, (x * 0.5) * g, (g * 0.5) * x});
}

Pattern erf_form() { return half_of(op("Erf", {any("x") / std::numbers::sqrt2}) + 1); }

Pattern tanh_form() {
    const Pattern x = any("x");
    const Pattern cube = either({op("Pow", {x, 3}), (x * x) * x});
    const Pattern inner = either({(x + cube * 0.044715) * std::sqrt(2 / std::numbers::pi),
                                  (x * std::sqrt(2 / std::numbers::pi)) * (((x * 0.044715) * x) + 1),
                                  (x * std::sqrt(2 / std::numbers::pi)) * (((x * x) * 0.044715) + 1)});
    return half_of(op("Tanh", {inner}) + 1);
}

bool apply(Editor& editor, NodeId at) {
    if (editor.node(at).op != "Mul") return false;
    for (const bool tanh : {false, true}) {
        const auto found = match(editor, tanh ? tanh_form() : erf_form(), at);
        if (!found || !editor.same_type((*found)["x"], editor.node(at).outputs[0]) ||
            !graph::is_floating(editor.element((*found)["x"])))
            continue;
        Attributes attributes;
        if (tanh) attributes["approximate"] = std::string("tanh");
        editor.replace(editor.node(at).outputs[0], editor.add("Gelu", {(*found)["x"]}, attributes));
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 7)};
    const ValueId x = s.input(dims);
    ValueId g = ValueId::none;
    if (s.coin()) {
        const ValueId scaled = s.coin() ? s.add("Div", {x, s.scalar(std::numbers::sqrt2)})
                                        : s.either_way("Mul", x, s.scalar(1 / std::numbers::sqrt2));
        g = s.add("Erf", {scaled});
    } else {
        const ValueId cube =
            s.coin() ? s.add("Pow", {x, s.scalar(3)}) : s.add("Mul", {s.add("Mul", {x, x}), x});
        const ValueId inner = s.either_way("Add", x, s.either_way("Mul", cube, s.scalar(0.044715)));
        g = s.add("Tanh", {s.either_way("Mul", inner, s.scalar(std::sqrt(2 / std::numbers::pi)))});
    }
    const ValueId one = s.either_way("Add", g, s.scalar(1));
    const ValueId half = s.scalar(0.5);
    if (s.coin()) return s.finish({s.either_way("Mul", s.either_way("Mul", x, one), half)});
    if (s.coin()) return s.finish({s.either_way("Mul", s.either_way("Mul", x, half), one)});
    return s.finish({s.either_way("Mul", s.either_way("Mul", half, one), x)});
}

}  // namespace

Rule recognise_gelu() {
    return {.name = "recognise_gelu",
            .source = "Hendrycks and Gimpel 2016; ONNX Gelu-20",
            .equation = "½x(1 + erf(x/√2)) ⇒ Gelu(x); ½x(1 + tanh(√(2/π)(x + 0.044715x³))) ⇒ Gelu(x; tanh)",
            .guards = "constants to five digits; nothing else reads what lies between",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
