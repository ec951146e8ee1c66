// Convolves concatenated channels apart: Conv([x, y], w, b) ⇒ Conv(x, w₁, b) + Conv(y, w₂). It is
// add_convolutions of TASO and MetaFlow, backwards.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_split_convolution_input(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || conv->group != 1 || !editor.used_once(conv->x)) return false;
    const Node* joined = editor.producer(conv->x, op::Concat);
    const auto axis = joined != nullptr ? axis_of(editor, *joined) : std::nullopt;
    if (axis != 1 || joined->inputs.size() != 2) return false;
    Dims channels;
    for (const ValueId input : joined->inputs) {
        const auto dims = editor.dims(input);
        if (!dims) return false;
        channels.push_back((*dims)[1]);
    }
    const std::vector<ValueId> w = add_split(editor, conv->w, 1, channels);
    std::vector<ValueId> first = {joined->inputs[0], w[0]};
    if (conv->bias != ValueId::none) first.push_back(conv->bias);
    const ValueId a = editor.add(op::Conv, first, conv->attributes(1));
    editor.replace(
        conv->y,
        editor.add(op::Add, {a, editor.add(op::Conv, {joined->inputs[1], w[1]}, conv->attributes(1))}));
    return true;
}

Graph split_convolution_input_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t n = g.extent(1, 2), h = g.extent(3, 5), a = g.extent(1, 4), b = g.extent(1, 3);
    const ValueId x = g.input({n, a, h, 4});
    const ValueId joined =
        g.add(op::Concat, {x, g.input({n, b, h, 4})}, {{"axis", std::int64_t{g.coin() ? 1 : -3}}});
    const std::int64_t m = g.extent(1, 4);
    std::vector<ValueId> inputs = {joined, g.constant({m, a + b, 2, 3})};
    if (g.coin()) inputs.push_back(g.constant({m}));
    return g.finish({g.add(op::Conv, inputs, {{"pads", Dims{1, 0, 0, 1}}})});
}

}  // namespace

Rule split_convolution_input() {
    return {.name = "split_convolution_input",
            .kind = Kind::alternative,
            .source = "TASO; MetaFlow (add_convolutions, backwards)",
            .equation = "Conv([x, y], w, b) ⇒ Conv(x, w₁, b) + Conv(y, w₂)",
            .guards = "along the channels, no groups, constant weights; nothing else reads the concatenation",
            .polynomial = true,
            .apply = apply_split_convolution_input,
            .instance = split_convolution_input_instance};
}

}  // namespace viridian::rewrite
