// Folds a constant term before a convolution into its bias: Conv(x + c, w, b) ⇒ Conv(x, w, b + Σ w·c). With
// it a batch normalisation reaches either neighbour (docs/method.md, 4).
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/convolution_input.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_input_shift(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    const auto found = conv ? ConvolutionInput::of(editor, *conv, op::Add) : std::nullopt;
    if (!found || conv->is_padded()) return false;
    Dims axes;
    for (std::size_t axis = 1; axis < conv->weights.size(); ++axis)
        axes.push_back(static_cast<std::int64_t>(axis));
    const ValueId moved = editor.add(op::Mul, {conv->w, found->along_weights(editor, *conv)});
    ValueId bias =
        editor.add(op::ReduceSum, {moved, editor.vector_of(axes)}, {{"keepdims", std::int64_t{0}}});
    if (conv->bias != ValueId::none) bias = editor.add(op::Add, {conv->bias, bias});
    editor.replace(conv->y, editor.add(op::Conv, {found->x, conv->w, bias}, conv->attributes(1)));
    return true;
}

}  // namespace

Rule fold_input_shift() {
    return {
        .name = "fold_input_shift",
        .source = "docs/method.md, 4 (batch norm into either neighbour)",
        .equation = "Conv(x + c, w, b) ⇒ Conv(x, w, b + Σ w·c)",
        .guards =
            "no padding (it is zero, not c); c is constant and varies along the input channels at most; no "
            "groups; nothing else reads x + c",
        .polynomial = true,
        .apply = apply_fold_input_shift,
        .instance = [](Random& r, ElementType e) {
            return convolution_input_instance(r, e, op::Add, false);
        }};
}

}  // namespace viridian::rewrite
