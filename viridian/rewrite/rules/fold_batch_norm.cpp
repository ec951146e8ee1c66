#include "viridian/rewrite/affine.hpp"
#include "viridian/rewrite/rules/batch_norm.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& norm = editor.node(at);
    if (!folds(editor, norm)) return false;
    const auto linear = Linear::of(editor, norm.inputs[0]);
    if (!linear || !linear->takes_shift()) return false;
    const Affine map = affine_of(editor, norm);
    editor.replace(norm.outputs[0], linear->affine(editor, map.scale, map.shift));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    ValueId y = ValueId::none;
    std::int64_t channels = s.extent(1, 3);
    if (s.coin()) {
        const std::int64_t group = s.extent(1, 2);
        const bool transposed = s.coin();
        const std::int64_t in = s.extent(1, 3) * group;
        const std::int64_t per_group = channels;
        channels = per_group * group;
        const ValueId x = s.input({s.extent(1, 2), in, s.extent(3, 6), s.extent(3, 5)});
        const Dims weights = transposed ? Dims{in, per_group, 3, 2} : Dims{channels, in / group, 3, 2};
        std::vector<ValueId> inputs = {x, s.constant(weights)};
        if (s.coin()) inputs.push_back(s.constant({channels}));
        y = s.add(transposed ? "ConvTranspose" : "Conv", inputs,
                  {{"group", group}, {"pads", Dims{1, 0, 1, 1}}});
    } else {
        const std::int64_t in = s.extent(1, 5);
        const std::int64_t transposed = s.extent(0, 1);
        const ValueId w = s.constant(transposed != 0 ? Dims{channels, in} : Dims{in, channels});
        std::vector<ValueId> inputs = {s.input({s.extent(1, 4), in}), w};
        if (s.coin()) inputs.push_back(s.constant(s.coin() ? Dims{channels} : Dims{1, 1}));
        y = s.add("Gemm", inputs, {{"transB", transposed}, {"alpha", 2.0}, {"beta", 3.0}});
    }
    const ValueId norm = s.add(
        "BatchNormalization",
        {y, s.constant({channels}), s.constant({channels}), s.constant({channels}), s.positive({channels})},
        {{"epsilon", 0.125}});
    return s.finish({norm});
}

}  // namespace

Rule fold_batch_norm() {
    return {
        .name = "fold_batch_norm",
        .source = "EAGO §3.1, MetaFlow (fuse conv and bn)",
        .equation = "BN(Conv(x, w, b)) ⇒ Conv(x, s·w, s·(b−μ)+β), s = γ/√(σ²+ε); ConvTranspose, Gemm alike",
        .guards =
            "weights and statistics are constants, inference mode, the convolution is read by nothing else",
        .polynomial = false,
        .apply = apply,
        .instance = instance};
}

}  // namespace viridian::rewrite
