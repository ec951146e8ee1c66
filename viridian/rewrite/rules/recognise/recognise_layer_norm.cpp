// Recognises layer normalisation: (x − mean(x)) / √(mean((x − mean(x))²) + ε) ⇒ LayerNormalization(x, 1; ε).
// Ba, Kiros and Hinton 2016 define it, as does ONNX LayerNormalization-17.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/pattern.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

Pattern recognise_layer_norm_form() {
    const Pattern x = any("x");
    const Pattern centred = x - result_of(op::ReduceMean, {x, constant("axes")}).as("mean");
    const Pattern square = either({result_of(op::Pow, {centred, 2}), centred * centred});
    const Pattern variance = result_of(op::ReduceMean, {square, constant("axes")}).as("variance");
    const Pattern deviation = result_of(op::Sqrt, {variance + number("epsilon")});
    return either({centred / deviation, result_of(op::Reciprocal, {deviation}) * centred});
}

// The first of the trailing axes that both means reduce and keep with extent 1; or none.
std::optional<std::int64_t> first_normalised_axis(const Editor& editor, const Match& found) {
    const auto rank = editor.rank(found["x"]);
    auto axes = editor.integers(found["axes"]);
    if (!rank || !axes || axes->empty()) return std::nullopt;
    for (const char* mean : {"mean", "variance"})
        if (editor.producer(found[mean], op::ReduceMean)->integer("keepdims", 1) == 0) return std::nullopt;
    for (std::int64_t& axis : *axes) axis += axis < 0 ? *rank : 0;
    std::sort(axes->begin(), axes->end());
    for (std::size_t i = 0; i < axes->size(); ++i)
        if ((*axes)[i] != *rank - static_cast<std::int64_t>(axes->size() - i)) return std::nullopt;
    return axes->front();
}

bool apply_recognise_layer_norm(Editor& editor, NodeId at) {
    if (editor.node(at).op != op::Div && editor.node(at).op != op::Mul) return false;
    static const Pattern pattern = recognise_layer_norm_form();
    const auto found = match(editor, pattern, at);
    if (!found) return false;
    const auto axis = first_normalised_axis(editor, *found);
    const ValueId x = (*found)["x"];
    if (!axis || !graph::is_floating(editor.element(x))) return false;
    const auto& shape = *editor.graph().value(x).type.shape;
    Dims normalized;
    for (auto i = static_cast<std::size_t>(*axis); i < shape.size(); ++i) {
        if (!shape[i].known()) return false;
        normalized.push_back(shape[i].value());
    }
    const ValueId one = editor.scalar_like(x, 1);
    const ValueId scale = editor.add(op::Expand, {one, editor.vector_of(normalized)});
    const Attributes attributes = {{"axis", *axis - static_cast<std::int64_t>(shape.size())},
                                   {"epsilon", *editor.scalar((*found)["epsilon"])}};
    editor.replace(editor.node(at).outputs[0], editor.add(op::LayerNormalization, {x, scale}, attributes));
    return true;
}

Graph recognise_layer_norm_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 5), g.extent(2, 6)};
    const ValueId x = g.input(dims);
    const bool two = g.coin();
    const ValueId axes = g.integers(two ? Dims{-2, -1} : g.coin() ? Dims{-1} : Dims{2});
    const ValueId centred = g.add(op::Sub, {x, g.add(op::ReduceMean, {x, axes})});
    const ValueId square =
        g.coin() ? g.add(op::Pow, {centred, g.scalar(2)}) : g.add(op::Mul, {centred, centred});
    const ValueId variance = g.add(op::ReduceMean, {square, axes});
    const ValueId deviation = g.add(op::Sqrt, {g.either_way(op::Add, variance, g.scalar(0.125))});
    if (g.coin()) return g.finish({g.add(op::Div, {centred, deviation})});
    return g.finish({g.either_way(op::Mul, centred, g.add(op::Reciprocal, {deviation}))});
}

}  // namespace

Rule recognise_layer_norm() {
    return {.name = "recognise_layer_norm",
            .source = "Ba, Kiros and Hinton 2016; ONNX LayerNormalization-17",
            .equation = "(x − mean(x)) / √(mean((x − mean(x))²) + ε) ⇒ LayerNormalization(x, 1; ε)",
            .guards =
                "both means are over the same trailing axes of known extent, kept as 1; nothing else reads "
                "what lies between",
            .apply = apply_recognise_layer_norm,
            .instance = recognise_layer_norm_instance};
}

}  // namespace viridian::rewrite
