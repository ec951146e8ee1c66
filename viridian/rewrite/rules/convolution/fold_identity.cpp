// Folds a residual connection into the convolution beside it: x + Conv(x, w, b) ⇒ Conv(x, w + δ, b), where δ
// is 1 in the middle of each channel's own window. RepVGG (Ding et al. 2021) uses it, and MetaFlow (resnet
// merge).
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// Returns whether a weight of one in the middle of the window reproduces the input: stride 1, odd windows,
// half padding.
bool keeps_place_of_pixels(const Convolution& conv) {
    for (std::size_t i = 0; i < conv.spatial(); ++i) {
        const std::int64_t k = conv.kernel()[i];
        if (k % 2 == 0 || conv.strides[i] != 1 || conv.pads[i] != conv.dilations[i] * (k / 2) ||
            conv.pads[i + conv.spatial()] != conv.pads[i])
            return false;
    }
    return true;
}

bool apply_fold_identity(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if (sum.op != op::Add) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const auto conv = Convolution::read_once(editor, sum.inputs[side]);
        if (!conv || conv->x != sum.inputs[1 - side] || !keeps_place_of_pixels(*conv) ||
            !editor.same_type(conv->x, conv->y))
            continue;
        // Output channel m reads input channel m, which is channel m % in of its group.
        Tensor identity(ElementType::f64, conv->weights);
        std::int64_t window = 1;
        for (const std::int64_t k : conv->kernel()) window *= k;
        const std::int64_t in = conv->weights[1];
        auto values = identity.mutable_values<double>();
        for (std::int64_t m = 0; m < conv->weights[0]; ++m)
            values[static_cast<std::size_t>((m * in + m % in) * window + window / 2)] = 1;
        ValueId delta = editor.constant(std::move(identity));
        if (editor.element(conv->w) != ElementType::f64)
            delta = editor.add(op::Cast, {delta}, {{"to", graph::onnx_code_of(editor.element(conv->w))}});
        std::vector<ValueId> inputs = {conv->x, editor.add(op::Add, {conv->w, delta})};
        if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
        editor.replace(sum.outputs[0], editor.add(op::Conv, inputs, conv->attributes(conv->group)));
        return true;
    }
    return false;
}

Graph fold_identity_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t group = g.extent(1, 3), channels = group * g.extent(1, 3), d = g.extent(1, 2);
    const ValueId x = g.add(op::Neg, {g.input({g.extent(1, 2), channels, g.extent(3, 6), g.extent(3, 5)})});
    std::vector<ValueId> inputs = {x, g.constant({channels, channels / group, 3, 1})};
    if (g.coin()) inputs.push_back(g.constant({channels}));
    const ValueId y =
        g.add(op::Conv, inputs, {{"group", group}, {"pads", Dims{d, 0, d, 0}}, {"dilations", Dims{d, 1}}});
    return g.finish({g.either_way(op::Add, x, y)});
}

}  // namespace

Rule fold_identity() {
    return {.name = "fold_identity",
            .source = "RepVGG (Ding et al. 2021); MetaFlow (resnet merge)",
            .equation = "x + Conv(x, w, b) ⇒ Conv(x, w + δ, b)",
            .guards =
                "stride 1, odd windows padded to keep their place, constant weights; nothing else reads the "
                "convolution",
            .polynomial = true,
            .apply = apply_fold_identity,
            .instance = fold_identity_instance};
}

}  // namespace viridian::rewrite
