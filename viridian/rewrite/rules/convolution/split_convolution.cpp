// Takes a convolution apart whose output channels are split: Split(Conv(x, [w₁; w₂], [b₁; b₂])) ⇒ Conv(x, w₁,
// b₁), Conv(x, w₂, b₂). It is merge_convolutions of MetaFlow §4 and TASO, backwards.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_split_convolution(Editor& editor, NodeId at) {
    const auto parts = Parts::of(editor, editor.node(at));
    if (!parts || parts->axis != 1) return false;
    const auto conv = Convolution::read_once(editor, parts->whole);
    if (!conv || conv->group != 1) return false;
    const std::vector<ValueId> weights = add_split(editor, conv->w, 0, parts->sizes);
    std::vector<ValueId> biases;
    if (conv->bias != ValueId::none) biases = add_split(editor, conv->bias, 0, parts->sizes);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        std::vector<ValueId> inputs = {conv->x, weights[i]};
        if (!biases.empty()) inputs.push_back(biases[i]);
        editor.replace(parts->values[i], editor.add(op::Conv, inputs, conv->attributes(1)));
    }
    return true;
}

Graph split_convolution_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims sizes = {g.extent(1, 3), g.extent(1, 4)};
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(3, 5), g.extent(3, 6)});
    std::vector<ValueId> inputs = {x, g.constant({sizes[0] + sizes[1], channels, 3, 2})};
    if (g.coin()) inputs.push_back(g.constant({sizes[0] + sizes[1]}));
    return g.finish(g.split(g.add(op::Conv, inputs, {{"pads", Dims{0, 1, 1, 0}}}), 1, sizes));
}

}  // namespace

Rule split_convolution() {
    return {.name = "split_convolution",
            .kind = Kind::alternative,
            .source = "MetaFlow §4; TASO (merge_convolutions, backwards)",
            .equation = "Split(Conv(x, [w₁; w₂], [b₁; b₂])) ⇒ Conv(x, w₁, b₁), Conv(x, w₂, b₂)",
            .guards = "along the channels, constant weights, no groups; nothing else reads the convolution",
            .polynomial = true,
            .apply = apply_split_convolution,
            .instance = split_convolution_instance};
}

}  // namespace viridian::rewrite
