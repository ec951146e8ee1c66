// Folds a constant factor behind a linear operator into its weights: Conv(x, w, b)·c ⇒ Conv(x, c·w, c·b), and
// ConvTranspose, Gemm, MatMul and division too. TASO has it, and ONNX Runtime calls it ConvMul.
#include "viridian/rewrite/certify/linear_instance.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/linear.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_scale(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != op::Mul && node.op != op::Div) || node.inputs.size() != 2) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        if (node.op == op::Div && side == 1) continue;
        const ValueId factor = node.inputs[1 - side];
        const auto linear = Linear::of(editor, node.inputs[side]);
        if (!linear || !linear->is_per_channel(editor, factor) ||
            !linear->takes_factor(editor, factor, role_of(node)))
            continue;
        ValueId scale = linear->per_channel(editor, factor);
        if (node.op == op::Div) scale = editor.add(op::Reciprocal, {scale});
        editor.replace(node.outputs[0], linear->affine(editor, scale, ValueId::none));
        return true;
    }
    return false;
}

Graph fold_scale_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const LinearInstance made = linear_instance(g, true);
    const ValueId factor = g.constant(made.channel_dims(g));
    return g.finish(
        {g.coin() ? g.add(op::Div, {made.output, factor}) : g.either_way(op::Mul, made.output, factor)});
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
        .apply = apply_fold_scale,
        .instance = fold_scale_instance};
}

}  // namespace viridian::rewrite
