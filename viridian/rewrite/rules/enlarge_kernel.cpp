#include <algorithm>

#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

// How much `small` must grow on each side to have the windows of `large`.
std::optional<Dims> growth(const Convolution& small, const Convolution& large) {
    const auto undilated = [](const Convolution& c) {
        return std::all_of(c.dilations.begin(), c.dilations.end(), [](std::int64_t d) { return d == 1; });
    };
    if (small.spatial() != large.spatial() || small.strides != large.strides || small.group != 1 ||
        large.group != 1 || !undilated(small) || !undilated(large))
        return std::nullopt;
    Dims grow;
    for (std::size_t i = 0; i < small.spatial(); ++i) {
        const std::int64_t more = large.kernel()[i] - small.kernel()[i];
        if (more < 0 || more % 2 != 0) return std::nullopt;
        grow.push_back(more / 2);
        if (small.pads[i] + more / 2 != large.pads[i] ||
            small.pads[i + small.spatial()] + more / 2 != large.pads[i + small.spatial()])
            return std::nullopt;
    }
    const bool any = std::any_of(grow.begin(), grow.end(), [](std::int64_t g) { return g > 0; });
    return any ? std::optional(grow) : std::nullopt;
}

bool apply(Editor& editor, NodeId at) {
    const auto small = Convolution::of(editor, at);
    if (!small) return false;
    for (const NodeId other : editor.readers(small->x)) {
        const auto large = Convolution::of(editor, other);
        const auto grow = large && large->x == small->x ? growth(*small, *large) : std::nullopt;
        if (!grow) continue;
        Dims pads = {0, 0};
        pads.insert(pads.end(), grow->begin(), grow->end());
        pads.insert(pads.end(), {0, 0});
        pads.insert(pads.end(), grow->begin(), grow->end());
        std::vector<ValueId> inputs = {small->x, editor.add("Pad", {small->w, editor.vector_of(pads)})};
        if (small->bias != ValueId::none) inputs.push_back(small->bias);
        Attributes attributes = large->attributes(1);
        editor.replace(small->y, editor.add("Conv", inputs, attributes));
        return true;
    }
    return false;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(4, 7), s.extent(4, 6)});
    const Dims strides = {s.extent(1, 2), s.extent(1, 2)};
    const std::int64_t p = s.extent(0, 1);
    const ValueId small = s.add("Conv", {x, s.constant({s.extent(1, 5), channels, 1, 3})},
                                {{"strides", strides}, {"pads", Dims{p, 0, 0, p}}});
    const ValueId large = s.add("Conv", {x, s.constant({s.extent(1, 5), channels, 3, 3})},
                                {{"strides", strides}, {"pads", Dims{p + 1, 0, 1, p}}});
    return s.finish({small, large});
}

}  // namespace

Rule enlarge_kernel() {
    return {.name = "enlarge_kernel",
            .kind = Kind::alternative,
            .source = "MetaFlow §4 (enlarge conv); EAGO §3.1",
            .equation = "Conv(x, w; p) ⇒ Conv(x, pad(w, d); p+d), beside a Conv(x, v) of the larger kernel",
            .guards =
                "d on both sides, so the difference is even; no dilation or groups; strides and resulting "
                "padding are those of the larger one",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
