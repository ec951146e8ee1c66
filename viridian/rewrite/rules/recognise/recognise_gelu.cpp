// Recognises Gelu in the forms that exporters write: ½x(1 + erf(x/√2)) ⇒ Gelu(x) and ½x(1 + tanh(√(2/π)(x +
// 0.044715x³))) ⇒ Gelu(x; tanh). Hendrycks and Gimpel 2016 define it, as does ONNX Gelu-20.
#include <cmath>
#include <numbers>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// ½·x·gate in the orders that exporters write.
Pattern half_of_gate(const Pattern& gate) {
    const Pattern x = any("x");
    return either({(x * gate) * 0.5, (x * 0.5) * gate, (gate * 0.5) * x});
}

Pattern gelu_erf_form() { return half_of_gate(result_of(op::Erf, {any("x") / std::numbers::sqrt2}) + 1); }

Pattern gelu_tanh_form() {
    const Pattern x = any("x");
    const Pattern cube = either({result_of(op::Pow, {x, 3}), (x * x) * x});
    const Pattern inner = either({(x + cube * 0.044715) * std::sqrt(2 / std::numbers::pi),
                                  (x * std::sqrt(2 / std::numbers::pi)) * (((x * 0.044715) * x) + 1),
                                  (x * std::sqrt(2 / std::numbers::pi)) * (((x * x) * 0.044715) + 1)});
    return half_of_gate(result_of(op::Tanh, {inner}) + 1);
}

bool apply_recognise_gelu(Editor& editor, NodeId at) {
    if (editor.node(at).op != op::Mul) return false;
    for (const bool tanh : {false, true}) {
        const auto found = match(editor, tanh ? gelu_tanh_form() : gelu_erf_form(), at);
        if (!found || !editor.same_type((*found)["x"], editor.node(at).outputs[0]) ||
            !graph::is_floating(editor.element((*found)["x"])))
            continue;
        Attributes attributes;
        if (tanh) attributes["approximate"] = std::string("tanh");
        editor.replace(editor.node(at).outputs[0], editor.add(op::Gelu, {(*found)["x"]}, attributes));
        return true;
    }
    return false;
}

Graph recognise_gelu_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 7)};
    const ValueId x = g.input(dims);
    ValueId gate = ValueId::none;
    if (g.coin()) {
        const ValueId scaled = g.coin() ? g.add(op::Div, {x, g.scalar(std::numbers::sqrt2)})
                                        : g.either_way(op::Mul, x, g.scalar(1 / std::numbers::sqrt2));
        gate = g.add(op::Erf, {scaled});
    } else {
        const ValueId cube =
            g.coin() ? g.add(op::Pow, {x, g.scalar(3)}) : g.add(op::Mul, {g.add(op::Mul, {x, x}), x});
        const ValueId inner = g.either_way(op::Add, x, g.either_way(op::Mul, cube, g.scalar(0.044715)));
        gate = g.add(op::Tanh, {g.either_way(op::Mul, inner, g.scalar(std::sqrt(2 / std::numbers::pi)))});
    }
    const ValueId one = g.either_way(op::Add, gate, g.scalar(1));
    const ValueId half = g.scalar(0.5);
    if (g.coin()) return g.finish({g.either_way(op::Mul, g.either_way(op::Mul, x, one), half)});
    if (g.coin()) return g.finish({g.either_way(op::Mul, g.either_way(op::Mul, x, half), one)});
    return g.finish({g.either_way(op::Mul, g.either_way(op::Mul, half, one), x)});
}

}  // namespace

Rule recognise_gelu() {
    return {.name = "recognise_gelu",
            .source = "Hendrycks and Gimpel 2016; ONNX Gelu-20",
            .equation = "½x(1 + erf(x/√2)) ⇒ Gelu(x); ½x(1 + tanh(√(2/π)(x + 0.044715x³))) ⇒ Gelu(x; tanh)",
            .guards = "constants to five digits; nothing else reads what lies between",
            .apply = apply_recognise_gelu,
            .instance = recognise_gelu_instance};
}

}  // namespace viridian::rewrite
