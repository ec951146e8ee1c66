// Pads the kernel of a convolution with zeros, so that it can be merged with a larger one of the same input:
// Conv(x, w; p) ⇒ Conv(x, pad(w, d); p+d). MetaFlow §4 and EAGO §3.1 enlarge convolutions.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// By how much the kernel of `small` must grow on each side for the windows of `large`, per axis; or none.
std::optional<Dims> kernel_growth(const Convolution& small, const Convolution& large) {
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

bool apply_enlarge_kernel(Editor& editor, NodeId at) {
    const auto small = Convolution::of(editor, at);
    if (!small) return false;
    for (const NodeId other : editor.readers(small->x)) {
        const auto large = Convolution::of(editor, other);
        const auto grow = large && large->x == small->x ? kernel_growth(*small, *large) : std::nullopt;
        if (!grow) continue;
        Dims pads = {0, 0};
        pads.insert(pads.end(), grow->begin(), grow->end());
        pads.insert(pads.end(), {0, 0});
        pads.insert(pads.end(), grow->begin(), grow->end());
        std::vector<ValueId> inputs = {small->x, editor.add(op::Pad, {small->w, editor.vector_of(pads)})};
        if (small->bias != ValueId::none) inputs.push_back(small->bias);
        Attributes attributes = large->attributes(1);
        editor.replace(small->y, editor.add(op::Conv, inputs, attributes));
        return true;
    }
    return false;
}

Graph enlarge_kernel_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(4, 7), g.extent(4, 6)});
    const Dims strides = {g.extent(1, 2), g.extent(1, 2)};
    const std::int64_t p = g.extent(0, 1);
    const ValueId small = g.add(op::Conv, {x, g.constant({g.extent(1, 5), channels, 1, 3})},
                                {{"strides", strides}, {"pads", Dims{p, 0, 0, p}}});
    const ValueId large = g.add(op::Conv, {x, g.constant({g.extent(1, 5), channels, 3, 3})},
                                {{"strides", strides}, {"pads", Dims{p + 1, 0, 1, p}}});
    return g.finish({small, large});
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
            .apply = apply_enlarge_kernel,
            .instance = enlarge_kernel_instance};
}

}  // namespace viridian::rewrite
