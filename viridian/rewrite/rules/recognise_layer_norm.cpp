#include <algorithm>

#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

Pattern form() {
    const Pattern x = any("x");
    const Pattern centred = x - op("ReduceMean", {x, constant("axes")}).as("mean");
    const Pattern square = either({op("Pow", {centred, 2}), centred * centred});
    const Pattern variance = op("ReduceMean", {square, constant("axes")}).as("variance");
    const Pattern deviation = op("Sqrt", {variance + number("epsilon")});
    return either({centred / deviation, op("Reciprocal", {deviation}) * centred});
}

// The first of the trailing axes that both means reduce, kept in place; or none.
std::optional<std::int64_t> first_axis(const Editor& editor, const Match& found) {
    const auto rank = editor.rank(found["x"]);
    auto axes = editor.integers(found["axes"]);
    if (!rank || !axes || axes->empty()) return std::nullopt;
    for (const char* mean : {"mean", "variance"})
        if (editor.producer(found[mean], "ReduceMean")->integer("keepdims", 1) == 0) return std::nullopt;
    for (std::int64_t& axis : *axes) axis += axis < 0 ? *rank : 0;
    std::sort(axes->begin(), axes->end());
    for (std::size_t i = 0; i < axes->size(); ++i)
        if ((*axes)[i] != *rank - static_cast<std::int64_t>(axes->size() - i)) return std::nullopt;
    return axes->front();
}

bool apply(Editor& editor, NodeId at) {
    if (editor.node(at).op != "Div" && editor.node(at).op != "Mul") return false;
    static const Pattern pattern = form();
    const auto found = match(editor, pattern, at);
    if (!found) return false;
    const auto axis = first_axis(editor, *found);
    const ValueId x = (*found)["x"];
    if (!axis || !graph::is_floating(editor.element(x))) return false;
    const auto& shape = *editor.graph().value(x).type.shape;
    Dims normalized;
    for (auto i = static_cast<std::size_t>(*axis); i < shape.size(); ++i) {
        if (!shape[i].known()) return false;
        normalized.push_back(shape[i].value());
    }
    const ValueId one = editor.scalar_like(x, 1);
    const ValueId scale = editor.add("Expand", {one, editor.vector_of(normalized)});
    const Attributes attributes = {{"axis", *axis - static_cast<std::int64_t>(shape.size())},
                                   {"epsilon", *editor.scalar((*found)["epsilon"])}};
    editor.replace(editor.node(at).outputs[0], editor.add("LayerNormalization", {x, scale}, attributes));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 5), s.extent(2, 6)};
    const ValueId x = s.input(dims);
    const bool two = s.coin();
    const ValueId axes = s.integers(two ? Dims{-2, -1} : s.coin() ? Dims{-1} : Dims{2});
    const ValueId centred = s.add("Sub", {x, s.add("ReduceMean", {x, axes})});
    const ValueId square = s.coin() ? s.add("Pow", {centred, s.scalar(2)}) : s.add("Mul", {centred, centred});
    const ValueId variance = s.add("ReduceMean", {square, axes});
    const ValueId deviation = s.add("Sqrt", {s.either_way("Add", variance, s.scalar(0.125))});
    if (s.coin()) return s.finish({s.add("Div", {centred, deviation})});
    return s.finish({s.either_way("Mul", centred, s.add("Reciprocal", {deviation}))});
}

}  // namespace

Rule recognise_layer_norm() {
    return {.name = "recognise_layer_norm",
            .source = "Ba, Kiros and Hinton 2016; ONNX LayerNormalization-17",
            .equation = "(x − mean(x)) / √(mean((x − mean(x))²) + ε) ⇒ LayerNormalization(x, 1; ε)",
            .guards =
                "both means are over the same trailing axes of known extent, kept as 1; nothing else reads "
                "what lies between",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
