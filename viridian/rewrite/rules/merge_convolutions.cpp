#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const auto second = Convolution::of(editor, at);
    if (!second || second->group != 1) return false;
    for (const NodeId other : editor.readers(second->x)) {
        const auto first = index(other) < index(at) ? Convolution::of(editor, other) : std::nullopt;
        if (!first || first->x != second->x || first->group != 1 || !first->same_windows(*second)) continue;
        const ValueId w = editor.add("Concat", {first->w, second->w}, {{"axis", std::int64_t{0}}});
        std::vector<ValueId> inputs = {first->x, w};
        if (first->bias != ValueId::none || second->bias != ValueId::none)
            inputs.push_back(editor.add("Concat", {first->bias_or_zero(editor), second->bias_or_zero(editor)},
                                        {{"axis", std::int64_t{0}}}));
        const ValueId both = editor.add("Conv", inputs, first->attributes(1));
        Node split;
        split.op = "Split";
        split.inputs = {both, editor.vector_of({first->weights[0], second->weights[0]})};
        split.attributes["axis"] = std::int64_t{1};
        const std::vector<ValueId> parts = editor.add_node(split, 2);
        editor.replace(first->y, parts[0]);
        editor.replace(second->y, parts[1]);
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(3, 6), s.extent(3, 7)});
    const Attributes attributes = {{"pads", Dims{1, 0, 0, 1}},
                                   {"strides", Dims{s.extent(1, 2), s.extent(1, 3)}}};
    const auto conv = [&] {
        const std::int64_t m = s.extent(1, 5);
        std::vector<ValueId> inputs = {x, s.constant({m, channels, 3, 2})};
        if (s.coin()) inputs.push_back(s.constant({m}));
        return s.add("Conv", inputs, attributes);
    };
    const ValueId a = conv();
    const ValueId b = conv();
    return s.finish({s.coin() ? s.add("Neg", {a}) : a, b});
}

}  // namespace

Rule merge_convolutions() {
    return {.name = "merge_convolutions",
            .kind = Kind::alternative,
            .source = "MetaFlow §4; TASO",
            .equation = "Conv(x, w₁, b₁), Conv(x, w₂, b₂) ⇒ Split(Conv(x, [w₁; w₂], [b₁; b₂]))",
            .guards = "same kernel extents, strides, dilations and padding, no groups, constant weights",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
