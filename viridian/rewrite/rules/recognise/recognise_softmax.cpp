// Recognises softmax: e / Σe ⇒ Softmax(x), where e = exp(x − max(x)). It is the function body of ONNX
// Softmax-13.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

Pattern recognise_softmax_form() {
    const Pattern x = any("x");
    const Pattern most = result_of(op::ReduceMax, {x, constant("axis")}).as("most");
    const Pattern powers = result_of(op::Exp, {x - most}).as("powers");
    const Pattern sum = result_of(op::ReduceSum, {powers, constant("axis")}).as("sum");
    return either({powers / sum, result_of(op::Reciprocal, {sum}) * powers, (1 / sum) * powers});
}

// The one axis that both reductions keep with extent 1; or none.
std::optional<std::int64_t> softmax_axis(const Editor& editor, const Match& found) {
    const auto axes = editor.integers(found["axis"]);
    if (!axes || axes->size() != 1 ||
        editor.producer(found["most"], op::ReduceMax)->integer("keepdims", 1) == 0 ||
        editor.producer(found["sum"], op::ReduceSum)->integer("keepdims", 1) == 0)
        return std::nullopt;
    return axes->front();
}

bool apply_recognise_softmax(Editor& editor, NodeId at) {
    if (editor.node(at).op != op::Div && editor.node(at).op != op::Mul) return false;
    static const Pattern pattern = recognise_softmax_form();
    const auto found = match(editor, pattern, at);
    const auto axis = found ? softmax_axis(editor, *found) : std::nullopt;
    if (!axis || !graph::is_floating(editor.element((*found)["x"]))) return false;
    editor.replace(editor.node(at).outputs[0], editor.add(op::Softmax, {(*found)["x"]}, {{"axis", *axis}}));
    return true;
}

Graph recognise_softmax_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const ValueId x = g.input({g.extent(1, 3), g.extent(1, 5), g.extent(1, 6)});
    const ValueId axis = g.integers({g.extent(-3, 2)});
    const ValueId powers = g.add(op::Exp, {g.add(op::Sub, {x, g.add(op::ReduceMax, {x, axis})})});
    const ValueId sum = g.add(op::ReduceSum, {powers, axis});
    if (g.coin()) return g.finish({g.add(op::Div, {powers, sum})});
    const ValueId inverse = g.coin() ? g.add(op::Reciprocal, {sum}) : g.add(op::Div, {g.scalar(1), sum});
    return g.finish({g.either_way(op::Mul, powers, inverse)});
}

}  // namespace

Rule recognise_softmax() {
    return {.name = "recognise_softmax",
            .source = "ONNX Softmax-13 (its function body)",
            .equation = "e / Σe ⇒ Softmax(x), e = exp(x − max(x))",
            .guards =
                "maximum and sum are over the same single axis, kept as 1; nothing else reads what lies "
                "between. Without the maximum it does not apply: exp(x) overflows where Softmax does not",
            .apply = apply_recognise_softmax,
            .instance = recognise_softmax_instance};
}

}  // namespace viridian::rewrite
