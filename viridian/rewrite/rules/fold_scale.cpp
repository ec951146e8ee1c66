#include "viridian/rewrite/affine.hpp"
#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/rules/linear_instance.hpp"
#include "viridian/rewrite/rules/list.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != "Mul" && node.op != "Div") || node.inputs.size() != 2) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        if (node.op == "Div" && side == 1) continue;
        const ValueId factor = node.inputs[1 - side];
        const auto linear = Linear::of(editor, node.inputs[side]);
        if (!linear || !linear->is_per_channel(editor, factor) ||
            !linear->takes_factor(editor, factor, node.op == "Div"))
            continue;
        ValueId scale = linear->per_channel(editor, factor);
        if (node.op == "Div") scale = editor.add("Reciprocal", {scale});
        editor.replace(node.outputs[0], linear->affine(editor, scale, ValueId::none));
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const LinearInstance made = linear_instance(s, true);
    const ValueId factor = s.constant(made.channel_dims(s));
    return s.finish(
        {s.coin() ? s.add("Div", {made.output, factor}) : s.either_way("Mul", made.output, factor)});
}

}  // namespace

Rule fold_scale() {
    return {
        .name = "fold_scale",
        .source = "TASO (conv · mul), ONNX Runtime level 1 (ConvMul)",
        .equation = "Conv(x, w, b)·c ⇒ Conv(x, c·w, c·b); ConvTranspose, Gemm, MatMul and division alike",
        .guards =
            "w, b and c are constants, c varies along the channels at most and adds no dimension; c is "
            "moderate (merge_scales), c·w and c·b stay finite and normal; the operator is read by nothing "
            "else",
        .polynomial = true,
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
