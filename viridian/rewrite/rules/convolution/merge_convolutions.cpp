// Joins two convolutions of one input along their output channels: Conv(x, w₁, b₁), Conv(x, w₂, b₂) ⇒
// Split(Conv(x, [w₁; w₂], [b₁; b₂])). MetaFlow §4 and TASO have it; split_convolution is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool apply_merge_convolutions(Editor& editor, NodeId at) {
    const auto second = Convolution::of(editor, at);
    if (!second || second->group != 1) return false;
    for (const NodeId other : editor.readers(second->x)) {
        const auto first = index(other) < index(at) ? Convolution::of(editor, other) : std::nullopt;
        if (!first || first->x != second->x || first->group != 1 || !first->same_windows(*second)) continue;
        const ValueId w = editor.add(op::Concat, {first->w, second->w}, {{"axis", std::int64_t{0}}});
        std::vector<ValueId> inputs = {first->x, w};
        if (first->bias != ValueId::none || second->bias != ValueId::none)
            inputs.push_back(editor.add(op::Concat,
                                        {first->bias_or_zero(editor), second->bias_or_zero(editor)},
                                        {{"axis", std::int64_t{0}}}));
        const ValueId both = editor.add(op::Conv, inputs, first->attributes(1));
        const std::vector<ValueId> parts =
            add_split(editor, both, 1, {first->weights[0], second->weights[0]});
        editor.replace(first->y, parts[0]);
        editor.replace(second->y, parts[1]);
        return true;
    }
    return false;
}

Graph merge_convolutions_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(3, 6), g.extent(3, 7)});
    const Attributes attributes = {{"pads", Dims{1, 0, 0, 1}},
                                   {"strides", Dims{g.extent(1, 2), g.extent(1, 3)}}};
    const auto conv = [&] {
        const std::int64_t m = g.extent(1, 5);
        std::vector<ValueId> inputs = {x, g.constant({m, channels, 3, 2})};
        if (g.coin()) inputs.push_back(g.constant({m}));
        return g.add(op::Conv, inputs, attributes);
    };
    const ValueId a = conv();
    const ValueId b = conv();
    return g.finish({g.coin() ? g.add(op::Neg, {a}) : a, b});
}

}  // namespace

Rule merge_convolutions() {
    return {.name = "merge_convolutions",
            .kind = Kind::alternative,
            .source = "MetaFlow §4; TASO",
            .equation = "Conv(x, w₁, b₁), Conv(x, w₂, b₂) ⇒ Split(Conv(x, [w₁; w₂], [b₁; b₂]))",
            .guards = "same kernel extents, strides, dilations and padding, no groups, constant weights",
            .polynomial = true,
            .apply = apply_merge_convolutions,
            .instance = merge_convolutions_instance};
}

}  // namespace viridian::rewrite
