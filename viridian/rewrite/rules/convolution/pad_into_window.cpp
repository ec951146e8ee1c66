// Takes zero padding into the window operator behind it: Conv(Pad(x, p), w; q) ⇒ Conv(x, w; p+q) and
// AveragePool(Pad(x, p); q) ⇒ AveragePool(x; p+q, padding counted). ONNX Runtime fuses pads at level 1.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// How many zeros `pad` adds at the beginning of every axis, then at the end of every axis; none if it adds
// others.
std::optional<Dims> zero_pads(const Editor& editor, const Node& pad) {
    const auto rank = editor.rank(pad.inputs[0]);
    const auto stated = editor.integers(pad.inputs[1]);
    if (!rank || !stated || pad.get("mode", std::string("constant")) != "constant") return std::nullopt;
    if (pad.input(2) != ValueId::none && editor.scalar(pad.inputs[2]) != 0.0) return std::nullopt;
    auto axes = pad.input(3) == ValueId::none ? std::optional(Dims()) : editor.integers(pad.inputs[3]);
    if (!axes) return std::nullopt;
    if (pad.input(3) == ValueId::none)
        for (std::int64_t axis = 0; axis < *rank; ++axis) axes->push_back(axis);
    if (stated->size() != 2 * axes->size()) return std::nullopt;
    Dims pads(static_cast<std::size_t>(2 * *rank), 0);
    for (std::size_t i = 0; i < axes->size(); ++i) {
        const std::int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + *rank : (*axes)[i];
        pads[static_cast<std::size_t>(axis)] = (*stated)[i];
        pads[static_cast<std::size_t>(axis + *rank)] = (*stated)[i + axes->size()];
    }
    return pads;
}

bool apply_pad_into_window(Editor& editor, NodeId at) {
    const Node& window = editor.node(at);
    const bool pool = window.op == op::AveragePool;
    if (window.op != op::Conv && !pool) return false;
    const Node* pad = editor.producer(window.inputs[0], op::Pad);
    if (pad == nullptr || !editor.used_once(pad->outputs[0])) return false;
    const auto pads = zero_pads(editor, *pad);
    const auto rank = editor.rank(pad->inputs[0]);
    if (!pads || !rank || *rank < 3) return false;
    const auto spatial = static_cast<std::size_t>(*rank - 2);
    const std::string auto_pad = window.get("auto_pad", std::string("NOTSET"));
    if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;
    Dims own = auto_pad == "VALID" ? Dims(2 * spatial, 0) : window.get("pads", Dims(2 * spatial, 0));
    if (own.size() != 2 * spatial) return false;
    // The pool must count exactly the zeros that it counted before.
    if (pool) {
        const bool counts = window.integer("count_include_pad", 0) != 0;
        const bool padded = std::any_of(own.begin(), own.end(), [](std::int64_t p) { return p != 0; });
        if (window.integer("ceil_mode", 0) != 0 || (padded && !counts)) return false;
    }
    const auto at_axis = [&](std::size_t axis, bool end) {
        return (*pads)[axis + (end ? static_cast<std::size_t>(*rank) : 0)];
    };
    for (const bool end : {false, true}) {
        if (at_axis(0, end) != 0 || at_axis(1, end) != 0) return false;
        for (std::size_t i = 0; i < spatial; ++i) {
            if (at_axis(i + 2, end) < 0) return false;
            own[i + (end ? spatial : 0)] += at_axis(i + 2, end);
        }
    }
    // Libraries refuse an average whose window lies in padding alone.
    if (pool) {
        const Dims kernel = window.get("kernel_shape", Dims());
        for (std::size_t i = 0; i < own.size(); ++i)
            if (kernel.size() != spatial || own[i] >= kernel[i % spatial]) return false;
    }
    Attributes attributes = window.attributes;
    attributes.erase("auto_pad");
    attributes["pads"] = own;
    if (pool) attributes["count_include_pad"] = std::int64_t{1};
    std::vector<ValueId> inputs = window.inputs;
    inputs[0] = pad->inputs[0];
    editor.replace(window.outputs[0], editor.add(window.op, inputs, attributes));
    return true;
}

Graph pad_into_window_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 4);
    const ValueId x = g.input({g.extent(1, 2), channels, g.extent(5, 8), g.extent(5, 9)});
    const Dims pads = {0, 0, g.extent(0, 2), g.extent(1, 2), 0, 0, g.extent(0, 2), g.extent(0, 2)};
    const ValueId padded = g.coin() ? g.add(op::Pad, {x, g.integers(pads)})
                                    : g.add(op::Pad, {x, g.integers(pads), g.filled({}, 0)});
    const Dims strides = {g.extent(1, 2), g.extent(1, 3)};
    if (g.coin())
        return g.finish({g.add(
            "AveragePool", {padded},
            {{"kernel_shape", Dims{3, 3}}, {"strides", strides}, {"count_include_pad", g.extent(0, 1)}})});
    const ValueId w = g.constant({g.extent(1, 4), channels, 3, 2});
    Attributes attributes = {{"strides", strides}};
    if (g.coin()) attributes["pads"] = Dims{1, 0, 0, 1};
    return g.finish({g.add(op::Conv, {padded, w}, attributes)});
}

}  // namespace

Rule pad_into_window() {
    return {.name = "pad_into_window",
            .source = "ONNX Runtime level 1 (pad fusion)",
            .equation =
                "Conv(Pad(x, p), w; q) ⇒ Conv(x, w; p+q); AveragePool(Pad(x, p); q) ⇒ AveragePool(x; p+q, "
                "padding counted)",
            .guards =
                "Pad surrounds spatial axes by zeros and is read by nothing else; explicit padding; a pool "
                "counts its own padding, does not round up, and no window lies in padding alone",
            .polynomial = true,
            .apply = apply_pad_into_window,
            .instance = pad_into_window_instance};
}

}  // namespace viridian::rewrite
