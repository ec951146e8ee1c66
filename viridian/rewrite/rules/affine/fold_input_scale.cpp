// Folds a constant factor before a convolution into its weights: Conv(x·c, w, b) ⇒ Conv(x, w·c, b). With it a
// batch normalisation reaches either neighbour (docs/method.md, 4).
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/convolution_input.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_input_scale(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    const auto found = conv ? ConvolutionInput::of(editor, *conv, op::Mul) : std::nullopt;
    if (!found || !fold_keeps_normals(editor, conv->w, found->operand, Role::factor)) return false;
    std::vector<ValueId> inputs = {found->x,
                                   editor.add(op::Mul, {conv->w, found->along_weights(editor, *conv)})};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    editor.replace(conv->y, editor.add(op::Conv, inputs, conv->attributes(1)));
    return true;
}

}  // namespace

Rule fold_input_scale() {
    return {
        .name = "fold_input_scale",
        .source = "docs/method.md, 4 (batch norm into either neighbour)",
        .equation = "Conv(x·c, w, b) ⇒ Conv(x, w·c, b)",
        .guards =
            "c is a moderate constant (merge_scales) that varies along the input channels at most, w·c stays "
            "finite and normal; no groups; nothing else reads x·c",
        .polynomial = true,
        .apply = apply_fold_input_scale,
        .instance = [](Random& r, ElementType e) { return convolution_input_instance(r, e, op::Mul, true); }};
}

}  // namespace viridian::rewrite
