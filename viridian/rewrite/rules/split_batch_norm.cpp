#include "viridian/rewrite/rules/batch_norm.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {

bool folds(const Editor& editor, const Node& norm) {
    if (norm.op != "BatchNormalization" || norm.inputs.size() < 5 || norm.integer("training_mode", 0) != 0)
        return false;
    for (std::size_t i = 1; i < norm.outputs.size(); ++i)
        if (norm.outputs[i] != ValueId::none) return false;
    for (std::size_t i = 1; i < 5; ++i)
        if (!editor.fixed(norm.inputs[i]) || !editor.dims(norm.inputs[i]) ||
            editor.element(norm.inputs[i]) != editor.element(norm.inputs[0]))
            return false;
    return true;
}

Affine affine_of(Editor& editor, const Node& norm) {
    const ValueId epsilon = editor.scalar_like(norm.inputs[4], norm.get("epsilon", 1e-5));
    const ValueId deviation = editor.add("Sqrt", {editor.add("Add", {norm.inputs[4], epsilon})});
    const ValueId scale = editor.add("Div", {norm.inputs[1], deviation});
    const ValueId shift = editor.add("Sub", {norm.inputs[2], editor.add("Mul", {norm.inputs[3], scale})});
    return {scale, shift};
}

namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& norm = editor.node(at);
    if (!folds(editor, norm)) return false;
    const auto rank = editor.rank(norm.inputs[0]);
    if (!rank || *rank < 2) return false;
    const Affine map = affine_of(editor, norm);
    Dims spread(static_cast<std::size_t>(*rank - 1), 1);
    spread[0] = -1;
    const auto along = [&](ValueId value) {
        return editor.add("Reshape", {value, editor.vector_of(spread)});
    };
    const ValueId scaled = editor.add("Mul", {norm.inputs[0], along(map.scale)});
    editor.replace(norm.outputs[0], editor.add("Add", {scaled, along(map.shift)}));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 5);
    Dims dims = {s.extent(1, 3), channels};
    for (std::int64_t i = s.extent(0, 2); i > 0; --i) dims.push_back(s.extent(1, 4));
    return s.finish({s.add("BatchNormalization",
                           {s.input(dims), s.constant({channels}), s.constant({channels}),
                            s.constant({channels}), s.positive({channels})},
                           {{"epsilon", 0.25}})});
}

}  // namespace

Rule split_batch_norm() {
    return {.name = "split_batch_norm",
            .source = "docs/method.md, 4",
            .equation = "BN(x) ⇒ x·s + (β − μ·s), s = γ/√(σ²+ε)",
            .guards = "statistics are constants, inference mode; what precedes could not take it",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
