#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {

std::optional<Convolution> Convolution::of(const Editor& editor, NodeId id) {
    const Node& node = editor.node(id);
    if (node.op != "Conv" || !node.domain.empty()) return std::nullopt;
    const std::string auto_pad = node.get("auto_pad", std::string("NOTSET"));
    const auto weights = editor.dims(node.inputs[1]);
    if (!weights || weights->size() < 3 || !editor.fixed(node.inputs[1]) ||
        (node.input(2) != ValueId::none && !editor.fixed(node.inputs[2])) ||
        (auto_pad != "NOTSET" && auto_pad != "VALID"))
        return std::nullopt;
    const std::size_t spatial = weights->size() - 2;
    Convolution conv{.id = id,
                     .x = node.inputs[0],
                     .w = node.inputs[1],
                     .bias = node.input(2),
                     .y = node.outputs[0],
                     .weights = *weights,
                     .strides = node.get("strides", Dims(spatial, 1)),
                     .dilations = node.get("dilations", Dims(spatial, 1)),
                     .pads = node.get("pads", Dims(2 * spatial, 0)),
                     .group = node.integer("group", 1)};
    if (auto_pad == "VALID") conv.pads.assign(2 * spatial, 0);
    return conv;
}

bool Convolution::same_windows(const Convolution& other) const {
    return kernel() == other.kernel() && strides == other.strides && dilations == other.dilations &&
           pads == other.pads;
}

Attributes Convolution::attributes(std::int64_t groups) const {
    return {{"kernel_shape", kernel()},
            {"strides", strides},
            {"dilations", dilations},
            {"pads", pads},
            {"group", groups}};
}

ValueId Convolution::bias_or_zero(Editor& editor) const {
    if (bias != ValueId::none) return bias;
    return editor.add("Expand", {editor.scalar_like(w, 0), editor.vector_of({weights[0]})});
}

bool same_beside(const Editor& editor, ValueId a, ValueId b, std::size_t axis) {
    auto first = editor.dims(a);
    auto second = editor.dims(b);
    if (!first || !second || first->size() != second->size() || axis >= first->size()) return false;
    (*first)[axis] = (*second)[axis];
    return *first == *second && editor.element(a) == editor.element(b);
}

}  // namespace viridian::rewrite
