#include "viridian/rewrite/affine.hpp"
#include "viridian/rewrite/rules/linear_instance.hpp"
#include "viridian/rewrite/rules/list.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if ((node.op != "Add" && node.op != "Sub") || node.inputs.size() != 2) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        if (node.op == "Sub" && side == 1) continue;
        const ValueId term = node.inputs[1 - side];
        const auto linear = Linear::of(editor, node.inputs[side]);
        if (!linear || !linear->takes_shift() || !linear->is_per_channel(editor, term)) continue;
        ValueId shift = linear->per_channel(editor, term);
        if (node.op == "Sub") shift = editor.add("Neg", {shift});
        editor.replace(node.outputs[0], linear->affine(editor, ValueId::none, shift));
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const LinearInstance made = linear_instance(s, false);
    const ValueId term = s.constant(made.channel_dims(s));
    return s.finish({s.coin() ? s.add("Sub", {made.output, term}) : s.either_way("Add", made.output, term)});
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
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
