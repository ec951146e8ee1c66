// Adds the weights of two convolutions of one input instead of their results: Conv(x, v, b) + Conv(x, w, c) ⇒
// Conv(x, v + w, b + c). TASO states that convolution is linear in its weights; RepVGG (Ding et al. 2021)
// uses it.
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/convolution/convolution_sum.hpp"

namespace viridian::rewrite {
namespace {

bool apply_factor_convolutions(Editor& editor, NodeId at) {
    const auto sum = ConvolutionSum::of(editor, editor.node(at));
    if (!sum || sum->a.x != sum->b.x) return false;
    std::vector<ValueId> inputs = {sum->a.x, editor.add(op::Add, {sum->a.w, sum->b.w})};
    append_bias_sum(editor, sum->a, sum->b, inputs);
    editor.replace(editor.node(at).outputs[0], editor.add(op::Conv, inputs, sum->a.attributes(sum->a.group)));
    return true;
}

}  // namespace

Rule factor_convolutions() {
    return {.name = "factor_convolutions",
            .source = "TASO (convolution is linear in its weights); RepVGG (Ding et al. 2021)",
            .equation = "Conv(x, v, b) + Conv(x, w, c) ⇒ Conv(x, v + w, b + c)",
            .guards = "same windows and groups, constant weights; nothing else reads either",
            .polynomial = true,
            .apply = apply_factor_convolutions,
            .instance = [](Random& r, ElementType e) { return convolution_sum_instance(r, e, true); }};
}

}  // namespace viridian::rewrite
