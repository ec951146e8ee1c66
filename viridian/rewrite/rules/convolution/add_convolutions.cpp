// Writes a sum of two convolutions as one over concatenated channels: Conv(x, v, b) + Conv(y, w, c) ⇒
// Conv([x, y], [v, w], b + c). TASO (figure 10) and MetaFlow have it; split_convolution_input is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_add_convolutions(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if (sum.op != op::Add || sum.inputs[0] == sum.inputs[1]) return false;
    const auto a = Convolution::read_once(editor, sum.inputs[0]);
    const auto b = Convolution::read_once(editor, sum.inputs[1]);
    if (!a || !b || a->group != 1 || b->group != 1 || !a->same_windows(*b) ||
        a->weights[0] != b->weights[0] || !same_beside(editor, a->x, b->x, 1))
        return false;
    const Attributes channels = {{"axis", std::int64_t{1}}};
    std::vector<ValueId> inputs = {editor.add(op::Concat, {a->x, b->x}, channels),
                                   editor.add(op::Concat, {a->w, b->w}, channels)};
    append_bias_sum(editor, *a, *b, inputs);
    editor.replace(sum.outputs[0], editor.add(op::Conv, inputs, a->attributes(1)));
    return true;
}

Graph add_convolutions_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t n = g.extent(1, 2);
    const std::int64_t m = g.extent(1, 4);
    const Dims plane = {g.extent(3, 6), g.extent(5, 7)};
    const Attributes attributes = {{"pads", Dims{0, 1, 1, 0}}, {"dilations", Dims{1, g.extent(1, 2)}}};
    const auto conv = [&] {
        const std::int64_t c = g.extent(1, 4);
        std::vector<ValueId> inputs = {g.input({n, c, plane[0], plane[1]}), g.constant({m, c, 2, 3})};
        if (g.coin()) inputs.push_back(g.constant({m}));
        return g.add(op::Conv, inputs, attributes);
    };
    const ValueId a = conv();
    return g.finish({g.add(op::Add, {a, conv()})});
}

}  // namespace

Rule add_convolutions() {
    return {.name = "add_convolutions",
            .kind = Kind::alternative,
            .source = "TASO (figure 10); MetaFlow",
            .equation = "Conv(x, v, b) + Conv(y, w, c) ⇒ Conv([x, y], [v, w], b + c)",
            .guards =
                "same windows and output channels, no groups, inputs equal beside the channels; nothing else "
                "reads either",
            .polynomial = true,
            .apply = apply_add_convolutions,
            .instance = add_convolutions_instance};
}

}  // namespace viridian::rewrite
