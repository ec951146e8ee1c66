// Adds the inputs of two convolutions with the same weights: Conv(x, w, b) + Conv(y, w, c) ⇒ Conv(x + y, w, b
// + c). TASO states that convolution is linear in its input; add_after_convolution is the reverse.
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/convolution/convolution_sum.hpp"

namespace viridian::rewrite {
namespace {

bool apply_add_before_convolution(Editor& editor, NodeId at) {
    const auto sum = ConvolutionSum::of(editor, editor.node(at));
    if (!sum || sum->a.w != sum->b.w || sum->a.x == sum->b.x || !editor.same_type(sum->a.x, sum->b.x))
        return false;
    std::vector<ValueId> inputs = {editor.add(op::Add, {sum->a.x, sum->b.x}), sum->a.w};
    append_bias_sum(editor, sum->a, sum->b, inputs);
    editor.replace(editor.node(at).outputs[0], editor.add(op::Conv, inputs, sum->a.attributes(sum->a.group)));
    return true;
}

}  // namespace

Rule add_before_convolution() {
    return {
        .name = "add_before_convolution",
        .kind = Kind::alternative,
        .source = "TASO (convolution is linear in its input)",
        .equation = "Conv(x, w, b) + Conv(y, w, c) ⇒ Conv(x + y, w, b + c)",
        .guards = "the same weights, windows and groups, x and y of equal types; nothing else reads either",
        .polynomial = true,
        .apply = apply_add_before_convolution,
        .instance = [](Random& r, ElementType e) { return convolution_sum_instance(r, e, false); }};
}

}  // namespace viridian::rewrite
