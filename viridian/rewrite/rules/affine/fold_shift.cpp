// Folds a constant term behind a linear operator into its bias: Conv(x, w, b) + c ⇒ Conv(x, w, b + c), and
// ConvTranspose, Gemm and subtraction too. TASO has it, and ONNX Runtime calls it ConvAdd.
#include "viridian/rewrite/certify/linear_instance.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/linear.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_shift(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != op::Add && node.op != op::Sub) || node.inputs.size() != 2) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        if (node.op == op::Sub && side == 1) continue;
        const ValueId term = node.inputs[1 - side];
        const auto linear = Linear::of(editor, node.inputs[side]);
        if (!linear || !linear->takes_shift() || !linear->is_per_channel(editor, term)) continue;
        ValueId shift = linear->per_channel(editor, term);
        if (node.op == op::Sub) shift = editor.add(op::Neg, {shift});
        editor.replace(node.outputs[0], linear->affine(editor, ValueId::none, shift));
        return true;
    }
    return false;
}

Graph fold_shift_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const LinearInstance made = linear_instance(g, false);
    const ValueId term = g.constant(made.channel_dims(g));
    return g.finish(
        {g.coin() ? g.add(op::Sub, {made.output, term}) : g.either_way(op::Add, made.output, term)});
}

}  // namespace

Rule fold_shift() {
    return {.name = "fold_shift",
            .source = "TASO (conv + bias), ONNX Runtime level 1 (ConvAdd)",
            .equation = "Conv(x, w, b) + c ⇒ Conv(x, w, b + c); ConvTranspose and Gemm alike",
            .guards =
                "w, b and c are constants, c varies along the channels at most and adds no dimension; the "
                "operator is read by nothing else",
            .polynomial = true,
            .apply = apply_fold_shift,
            .instance = fold_shift_instance};
}

}  // namespace viridian::rewrite
