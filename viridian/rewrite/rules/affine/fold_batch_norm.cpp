// Folds a batch normalisation into the operator before it: BN(Conv(x, w, b)) ⇒ Conv(x, s·w, s·(b−μ)+β), where
// s = γ/√(σ²+ε), and ConvTranspose and Gemm too. EAGO §3.1 and MetaFlow fuse conv and bn.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/linear.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/batch_norm.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_batch_norm(Editor& editor, NodeId at) {
    const Node& norm = editor.node(at);
    if (!has_constant_statistics(editor, norm)) return false;
    const auto linear = Linear::of(editor, norm.inputs[0]);
    if (!linear || !linear->takes_shift()) return false;
    const ChannelAffine map = channel_affine(editor, norm);
    editor.replace(norm.outputs[0], linear->affine(editor, map.scale, map.shift));
    return true;
}

Graph fold_batch_norm_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    ValueId y = ValueId::none;
    std::int64_t channels = g.extent(1, 3);
    if (g.coin()) {
        const std::int64_t group = g.extent(1, 2);
        const bool transposed = g.coin();
        const std::int64_t in = g.extent(1, 3) * group;
        const std::int64_t per_group = channels;
        channels = per_group * group;
        const ValueId x = g.input({g.extent(1, 2), in, g.extent(3, 6), g.extent(3, 5)});
        const Dims weights = transposed ? Dims{in, per_group, 3, 2} : Dims{channels, in / group, 3, 2};
        std::vector<ValueId> inputs = {x, g.constant(weights)};
        if (g.coin()) inputs.push_back(g.constant({channels}));
        y = g.add(transposed ? "ConvTranspose" : "Conv", inputs,
                  {{"group", group}, {"pads", Dims{1, 0, 1, 1}}});
    } else {
        const std::int64_t in = g.extent(1, 5);
        const std::int64_t transposed = g.extent(0, 1);
        const ValueId w = g.constant(transposed != 0 ? Dims{channels, in} : Dims{in, channels});
        std::vector<ValueId> inputs = {g.input({g.extent(1, 4), in}), w};
        if (g.coin()) inputs.push_back(g.constant(g.coin() ? Dims{channels} : Dims{1, 1}));
        y = g.add(op::Gemm, inputs, {{"transB", transposed}, {"alpha", 2.0}, {"beta", 3.0}});
    }
    const ValueId norm = g.add(
        "BatchNormalization",
        {y, g.constant({channels}), g.constant({channels}), g.constant({channels}), g.positive({channels})},
        {{"epsilon", 0.125}});
    return g.finish({norm});
}

}  // namespace

Rule fold_batch_norm() {
    return {
        .name = "fold_batch_norm",
        .source = "EAGO §3.1, MetaFlow (fuse conv and bn)",
        .equation = "BN(Conv(x, w, b)) ⇒ Conv(x, s·w, s·(b−μ)+β), s = γ/√(σ²+ε); ConvTranspose, Gemm alike",
        .guards =
            "weights and statistics are constants, inference mode, the convolution is read by nothing else",
        .apply = apply_fold_batch_norm,
        .instance = fold_batch_norm_instance};
}

}  // namespace viridian::rewrite
