#include "viridian/rewrite/convolution.hpp"

#include <algorithm>

namespace viridian::rewrite {
namespace {

bool all_are(const Dims& dims, std::int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [&](std::int64_t d) { return d == value; });
}

}  // namespace

std::optional<Convolution> Convolution::of(const Editor& editor, NodeId id) {
    const Node& node = editor.node(id);
    if (node.op != op::Conv) return std::nullopt;
    const std::string auto_pad = node.get("auto_pad", std::string("NOTSET"));
    const auto weights = editor.dims(node.inputs[1]);
    if (!weights || weights->size() < 3 || std::ranges::count(*weights, 0) > 0 ||
        !editor.fixed(node.inputs[1]) || (node.input(2) != ValueId::none && !editor.fixed(node.inputs[2])) ||
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

std::optional<Convolution> Convolution::read_once(const Editor& editor, ValueId y) {
    if (editor.producer(y, op::Conv) == nullptr || !editor.used_once(y)) return std::nullopt;
    return of(editor, editor.producer_id(y));
}

bool Convolution::same_windows(const Convolution& other) const {
    return kernel() == other.kernel() && strides == other.strides && dilations == other.dilations &&
           pads == other.pads;
}

bool Convolution::is_padded() const { return !all_are(pads, 0); }

bool Convolution::is_pointwise() const {
    return group == 1 && all_are(kernel(), 1) && all_are(strides, 1) && !is_padded();
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
    return editor.add(op::Expand, {editor.scalar_like(w, 0), editor.vector_of({weights[0]})});
}

void append_bias_sum(Editor& editor, const Convolution& a, const Convolution& b,
                     std::vector<ValueId>& inputs) {
    if (a.bias != ValueId::none && b.bias != ValueId::none)
        inputs.push_back(editor.add(op::Add, {a.bias, b.bias}));
    else if (a.bias != ValueId::none || b.bias != ValueId::none)
        inputs.push_back(a.bias != ValueId::none ? a.bias : b.bias);
}

}  // namespace viridian::rewrite
