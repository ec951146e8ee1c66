#include <cmath>

#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != "Mul" && node.op != "Div") || node.outputs.empty()) return false;
    const Pattern x = any("x");
    const Pattern clipped = op("Clip", {x + 3.0, 0.0, 6.0});
    static const Pattern pattern =
        either({op("HardSigmoid", {x}).as("gate") * x, (clipped * x) / 6, (clipped / 6) * x});
    const auto found = match(editor, pattern, at);
    if (!found || !editor.same_type((*found)["x"], node.outputs[0]) ||
        !graph::is_floating(editor.element(node.outputs[0])))
        return false;
    if ((*found)["gate"] != ValueId::none) {
        const Node& gate = *editor.producer((*found)["gate"], "HardSigmoid");
        if (std::abs(gate.get("alpha", 0.2) - 1.0 / 6) > 1e-6 || std::abs(gate.get("beta", 0.5) - 0.5) > 1e-6)
            return false;
    }
    editor.replace(node.outputs[0], editor.add("HardSwish", {(*found)["x"]}));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const ValueId x = s.input({s.extent(1, 3), s.extent(1, 7)});
    if (s.coin()) {
        const ValueId gate = s.add("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
        return s.finish({s.either_way("Mul", x, gate)});
    }
    const ValueId clipped = s.add("Clip", {s.either_way("Add", x, s.scalar(3)), s.scalar(0), s.scalar(6)});
    if (s.coin()) return s.finish({s.add("Div", {s.either_way("Mul", clipped, x), s.scalar(6)})});
    return s.finish({s.either_way("Mul", s.add("Div", {clipped, s.scalar(6)}), x)});
}

}  // namespace

Rule recognise_hard_swish() {
    return {.name = "recognise_hard_swish",
            .source = "Howard et al. 2019 (MobileNetV3); ONNX HardSwish-14",
            .equation = "x·HardSigmoid(x; 1/6, 1/2), x·Clip(x+3, 0, 6)/6 ⇒ HardSwish(x)",
            .guards = "constants to five digits; nothing else reads what lies between",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
