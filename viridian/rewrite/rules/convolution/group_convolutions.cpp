// Joins concatenated convolutions as groups of one: [Conv(x, v; g), Conv(y, w; h)] ⇒ Conv([x, y], [v; w];
// g+h). TASO merges grouped convolutions this way, but its axiom lacks the guard that all groups have equally
// many channels.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_group_convolutions(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != op::Concat || joined.integer("axis", 0) != 1 || joined.inputs.size() != 2 ||
        joined.inputs[0] == joined.inputs[1])
        return false;
    const auto a = Convolution::read_once(editor, joined.inputs[0]);
    const auto b = Convolution::read_once(editor, joined.inputs[1]);
    // Every group of the merged convolution reads equally many channels, and writes equally many.
    if (!a || !b || !a->same_windows(*b) || a->weights[1] != b->weights[1] ||
        a->weights[0] / a->group != b->weights[0] / b->group || !same_beside(editor, a->x, b->x, 1))
        return false;
    std::vector<ValueId> inputs = {editor.add(op::Concat, {a->x, b->x}, {{"axis", std::int64_t{1}}}),
                                   editor.add(op::Concat, {a->w, b->w}, {{"axis", std::int64_t{0}}})};
    if (a->bias != ValueId::none || b->bias != ValueId::none)
        inputs.push_back(editor.add(op::Concat, {a->bias_or_zero(editor), b->bias_or_zero(editor)},
                                    {{"axis", std::int64_t{0}}}));
    editor.replace(joined.outputs[0], editor.add(op::Conv, inputs, a->attributes(a->group + b->group)));
    return true;
}

Graph group_convolutions_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t n = g.extent(1, 2);
    const std::int64_t in = g.extent(1, 3);
    const std::int64_t out = g.extent(1, 3);
    const Dims plane = {g.extent(3, 5), g.extent(3, 6)};
    const auto conv = [&] {
        const std::int64_t group = g.extent(1, 3);
        std::vector<ValueId> inputs = {g.input({n, in * group, plane[0], plane[1]}),
                                       g.constant({out * group, in, 3, 2})};
        if (g.coin()) inputs.push_back(g.constant({out * group}));
        return g.add(op::Conv, inputs, {{"group", group}, {"pads", Dims{1, 0, 1, 0}}});
    };
    const ValueId a = conv();
    return g.finish({g.add(op::Concat, {a, conv()}, {{"axis", std::int64_t{1}}})});
}

}  // namespace

Rule group_convolutions() {
    return {.name = "group_convolutions",
            .kind = Kind::alternative,
            .source = "TASO (merge grouped convolutions), with the guard its axiom lacks",
            .equation = "[Conv(x, v; g), Conv(y, w; h)] ⇒ Conv([x, y], [v; w]; g+h)",
            .guards =
                "as many input and output channels per group on both sides; same windows; inputs equal "
                "beside the channels; nothing else reads either",
            .polynomial = true,
            .apply = apply_group_convolutions,
            .instance = group_convolutions_instance};
}

}  // namespace viridian::rewrite
