#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

Pattern form() {
    const Pattern x = any("x");
    const Pattern most = op("ReduceMax", {x, constant("axis")}).as("most");
    const Pattern powers = op("Exp", {x - most}).as("powers");
    const Pattern sum = op("ReduceSum", {powers, constant("axis")}).as("sum");
    return either({powers / sum, op("Reciprocal", {sum}) * powers, (1 / sum) * powers});
}

// The one axis that both reductions keep as 1; or none.
std::optional<std::int64_t> axis_of(const Editor& editor, const Match& found) {
    const auto axes = editor.integers(found["axis"]);
    if (!axes || axes->size() != 1 ||
        editor.producer(found["most"], "ReduceMax")->integer("keepdims", 1) == 0 ||
        editor.producer(found["sum"], "ReduceSum")->integer("keepdims", 1) == 0)
        return std::nullopt;
    return axes->front();
}

bool apply(Editor& editor, NodeId at) {
    if (editor.node(at).op != "Div" && editor.node(at).op != "Mul") return false;
    static const Pattern pattern = form();
    const auto found = match(editor, pattern, at);
    const auto axis = found ? axis_of(editor, *found) : std::nullopt;
    if (!axis || !graph::is_floating(editor.element((*found)["x"]))) return false;
    editor.replace(editor.node(at).outputs[0], editor.add("Softmax", {(*found)["x"]}, {{"axis", *axis}}));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const ValueId x = s.input({s.extent(1, 3), s.extent(1, 5), s.extent(1, 6)});
    const ValueId axis = s.integers({s.extent(-3, 2)});
    const ValueId powers = s.add("Exp", {s.add("Sub", {x, s.add("ReduceMax", {x, axis})})});
    const ValueId sum = s.add("ReduceSum", {powers, axis});
    if (s.coin()) return s.finish({s.add("Div", {powers, sum})});
    const ValueId inverse = s.coin() ? s.add("Reciprocal", {sum}) : s.add("Div", {s.scalar(1), sum});
    return s.finish({s.either_way("Mul", powers, inverse)});
}

}  // namespace

Rule recognise_softmax() {
    return {.name = "recognise_softmax",
            .source = "ONNX Softmax-13 (its function body)",
            .equation = "e / Σe ⇒ Softmax(x), e = exp(x − max(x))",
            .guards =
                "maximum and sum are over the same single axis, kept as 1; nothing else reads what lies "
                "between. Without the maximum it does not apply: exp(x) overflows where Softmax does not",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
