// Recognises HardSwish: x·HardSigmoid(x; 1/6, 1/2) and x·Clip(x+3, 0, 6)/6 ⇒ HardSwish(x). Howard et
// al. 2019 (MobileNetV3) define it, as does ONNX HardSwish-14.
#include <cmath>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_recognise_hard_swish(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != op::Mul && node.op != op::Div) || node.outputs.empty()) return false;
    const Pattern x = any("x");
    const Pattern clipped = result_of(op::Clip, {x + 3.0, 0.0, 6.0});
    static const Pattern pattern =
        either({result_of(op::HardSigmoid, {x}).as("gate") * x, (clipped * x) / 6, (clipped / 6) * x});
    const auto found = match(editor, pattern, at);
    if (!found || !editor.same_type((*found)["x"], node.outputs[0]) ||
        !graph::is_floating(editor.element(node.outputs[0])))
        return false;
    if ((*found)["gate"] != ValueId::none) {
        const Node& gate = *editor.producer((*found)["gate"], op::HardSigmoid);
        if (std::abs(gate.get("alpha", 0.2) - 1.0 / 6) > 1e-6 || std::abs(gate.get("beta", 0.5) - 0.5) > 1e-6)
            return false;
    }
    editor.replace(node.outputs[0], editor.add(op::HardSwish, {(*found)["x"]}));
    return true;
}

Graph recognise_hard_swish_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const ValueId x = g.input({g.extent(1, 3), g.extent(1, 7)});
    if (g.coin()) {
        const ValueId gate = g.add(op::HardSigmoid, {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
        return g.finish({g.either_way(op::Mul, x, gate)});
    }
    const ValueId clipped =
        g.add(op::Clip, {g.either_way(op::Add, x, g.scalar(3)), g.scalar(0), g.scalar(6)});
    if (g.coin()) return g.finish({g.add(op::Div, {g.either_way(op::Mul, clipped, x), g.scalar(6)})});
    return g.finish({g.either_way(op::Mul, g.add(op::Div, {clipped, g.scalar(6)}), x)});
}

}  // namespace

Rule recognise_hard_swish() {
    return {.name = "recognise_hard_swish",
            .source = "Howard et al. 2019 (MobileNetV3); ONNX HardSwish-14",
            .equation = "x·HardSigmoid(x; 1/6, 1/2), x·Clip(x+3, 0, 6)/6 ⇒ HardSwish(x)",
            .guards = "constants to five digits; nothing else reads what lies between",
            .apply = apply_recognise_hard_swish,
            .instance = recognise_hard_swish_instance};
}

}  // namespace viridian::rewrite
