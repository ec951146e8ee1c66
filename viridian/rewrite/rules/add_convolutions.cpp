#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if (sum.op != "Add" || editor.producer(sum.inputs[0], "Conv") == nullptr ||
        editor.producer(sum.inputs[1], "Conv") == nullptr || sum.inputs[0] == sum.inputs[1])
        return false;
    const auto a = Convolution::of(editor, editor.producer_id(sum.inputs[0]));
    const auto b = Convolution::of(editor, editor.producer_id(sum.inputs[1]));
    if (!a || !b || a->group != 1 || b->group != 1 || !a->same_windows(*b) ||
        a->weights[0] != b->weights[0] || !editor.used_once(a->y) || !editor.used_once(b->y) ||
        !same_beside(editor, a->x, b->x, 1))
        return false;
    const Attributes channels = {{"axis", std::int64_t{1}}};
    std::vector<ValueId> inputs = {editor.add("Concat", {a->x, b->x}, channels),
                                   editor.add("Concat", {a->w, b->w}, channels)};
    if (a->bias != ValueId::none && b->bias != ValueId::none)
        inputs.push_back(editor.add("Add", {a->bias, b->bias}));
    else if (a->bias != ValueId::none || b->bias != ValueId::none)
        inputs.push_back(a->bias != ValueId::none ? a->bias : b->bias);
    editor.replace(sum.outputs[0], editor.add("Conv", inputs, a->attributes(1)));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t n = s.extent(1, 2);
    const std::int64_t m = s.extent(1, 4);
    const Dims plane = {s.extent(3, 6), s.extent(5, 7)};
    const Attributes attributes = {{"pads", Dims{0, 1, 1, 0}}, {"dilations", Dims{1, s.extent(1, 2)}}};
    const auto conv = [&] {
        const std::int64_t c = s.extent(1, 4);
        std::vector<ValueId> inputs = {s.input({n, c, plane[0], plane[1]}), s.constant({m, c, 2, 3})};
        if (s.coin()) inputs.push_back(s.constant({m}));
        return s.add("Conv", inputs, attributes);
    };
    const ValueId a = conv();
    return s.finish({s.add("Add", {a, conv()})});
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
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
