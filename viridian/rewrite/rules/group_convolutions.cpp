#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != "Concat" || joined.integer("axis", 0) != 1 || joined.inputs.size() != 2 ||
        joined.inputs[0] == joined.inputs[1] || editor.producer(joined.inputs[0], "Conv") == nullptr ||
        editor.producer(joined.inputs[1], "Conv") == nullptr)
        return false;
    const auto a = Convolution::of(editor, editor.producer_id(joined.inputs[0]));
    const auto b = Convolution::of(editor, editor.producer_id(joined.inputs[1]));
    // Every group of the merged convolution reads and writes as many channels: TASO's axiom without this
    // guard is wrong (research/graph.md, 1).
    if (!a || !b || !a->same_windows(*b) || a->weights[1] != b->weights[1] ||
        a->weights[0] / a->group != b->weights[0] / b->group || !editor.used_once(a->y) ||
        !editor.used_once(b->y) || !same_beside(editor, a->x, b->x, 1))
        return false;
    std::vector<ValueId> inputs = {editor.add("Concat", {a->x, b->x}, {{"axis", std::int64_t{1}}}),
                                   editor.add("Concat", {a->w, b->w}, {{"axis", std::int64_t{0}}})};
    if (a->bias != ValueId::none || b->bias != ValueId::none)
        inputs.push_back(editor.add("Concat", {a->bias_or_zero(editor), b->bias_or_zero(editor)},
                                    {{"axis", std::int64_t{0}}}));
    editor.replace(joined.outputs[0], editor.add("Conv", inputs, a->attributes(a->group + b->group)));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t n = s.extent(1, 2);
    const std::int64_t in = s.extent(1, 3);
    const std::int64_t out = s.extent(1, 3);
    const Dims plane = {s.extent(3, 5), s.extent(3, 6)};
    const auto conv = [&] {
        const std::int64_t group = s.extent(1, 3);
        std::vector<ValueId> inputs = {s.input({n, in * group, plane[0], plane[1]}),
                                       s.constant({out * group, in, 3, 2})};
        if (s.coin()) inputs.push_back(s.constant({out * group}));
        return s.add("Conv", inputs, {{"group", group}, {"pads", Dims{1, 0, 1, 0}}});
    };
    const ValueId a = conv();
    return s.finish({s.add("Concat", {a, conv()}, {{"axis", std::int64_t{1}}})});
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
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
