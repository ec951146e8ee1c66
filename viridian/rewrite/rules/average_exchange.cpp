// Averages are linear: they change places with pointwise convolutions, and are convolutions themselves.
#include <algorithm>

#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

bool zero(const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d == 0; });
}
bool one(const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d == 1; });
}

bool pointwise(const Convolution& conv) {
    return conv.group == 1 && one(conv.kernel()) && one(conv.strides) && zero(conv.pads);
}

bool averages(const Node& node) {
    if (!node.domain.empty() || node.outputs.size() != 1) return false;
    return node.op == "GlobalAveragePool" ||
           (node.op == "AveragePool" && node.get("auto_pad", std::string("NOTSET")) == "NOTSET");
}

// Whether the average of a constant plane is that constant: no window counts padding.
bool keeps_constants(const Node& node) {
    return node.op == "GlobalAveragePool" || node.integer("count_include_pad", 0) == 0 ||
           zero(node.get("pads", Dims()));
}

// Conv(A(x), w, b) ⇒ A(Conv(x, w, b)), or A(Conv(x, w)) + b where A counts its padding
bool convolution_inside(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || !pointwise(*conv) || !editor.used_once(conv->x)) return false;
    const Node* pool = editor.graph().producer(conv->x);
    if (pool == nullptr || !averages(*pool)) return false;
    const bool inside = keeps_constants(*pool);
    std::vector<ValueId> inputs = {pool->inputs[0], conv->w};
    if (conv->bias != ValueId::none && inside) inputs.push_back(conv->bias);
    ValueId y = editor.add(pool->op, {editor.add("Conv", inputs, conv->attributes(1))}, pool->attributes);
    if (conv->bias != ValueId::none && !inside) {
        Dims spread(conv->weights.size() - 1, 1);
        spread[0] = conv->weights[0];
        y = editor.add("Add", {y, editor.add("Reshape", {conv->bias, editor.vector_of(spread)})});
    }
    editor.replace(conv->y, y);
    return true;
}

// A(Conv(x, w, b)) ⇒ Conv(A(x), w, b)
bool convolution_outside(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    if (!averages(pool) || editor.producer(pool.inputs[0], "Conv") == nullptr ||
        !editor.used_once(pool.inputs[0]))
        return false;
    const auto conv = Convolution::of(editor, editor.producer_id(pool.inputs[0]));
    if (!conv || !pointwise(*conv) || (conv->bias != ValueId::none && !keeps_constants(pool))) return false;
    std::vector<ValueId> inputs = {editor.add(pool.op, {conv->x}, pool.attributes), conv->w};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    editor.replace(pool.outputs[0], editor.add("Conv", inputs, conv->attributes(1)));
    return true;
}

// AveragePool(x; k) ⇒ Conv(x, 1/|k|; a group per channel)
bool as_convolution(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    const auto dims = pool.op == "AveragePool" && averages(pool) ? editor.dims(pool.inputs[0]) : std::nullopt;
    if (!dims || (pool.integer("count_include_pad", 0) == 0 && !zero(pool.get("pads", Dims()))) ||
        pool.integer("ceil_mode", 0) != 0)
        return false;
    const Dims kernel = pool.get("kernel_shape", Dims());
    Dims weights = {(*dims)[1], 1};
    double window = 1;
    for (const std::int64_t k : kernel) {
        weights.push_back(k);
        window *= static_cast<double>(k);
    }
    const ValueId w =
        editor.add("Expand", {editor.scalar_like(pool.inputs[0], 1 / window), editor.vector_of(weights)});
    Attributes attributes = {{"group", (*dims)[1]}, {"kernel_shape", kernel}};
    for (const char* key : {"strides", "pads", "dilations"})
        if (pool.has(key)) attributes[key] = pool.attributes.find(key)->second;
    editor.replace(pool.outputs[0], editor.add("Conv", {pool.inputs[0], w}, attributes));
    return true;
}

ValueId average(Sketch& s, ValueId x, bool counting) {
    if (!counting && s.coin()) return s.add("GlobalAveragePool", {x});
    Attributes attributes = {{"kernel_shape", Dims{2, 3}}, {"strides", Dims{1, 2}}};
    if (s.coin()) attributes["pads"] = Dims{1, 0, 0, 1};
    attributes["count_include_pad"] = std::int64_t{counting ? 1 : 0};
    return s.add("AveragePool", {x}, attributes);
}

ValueId pointwise_of(Sketch& s, ValueId x, std::int64_t channels, bool bias) {
    const std::int64_t m = s.extent(1, 5);
    std::vector<ValueId> inputs = {x, s.constant({m, channels, 1, 1})};
    if (bias) inputs.push_back(s.constant({m}));
    return s.add("Conv", inputs);
}

Graph inside_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(3, 5), s.extent(4, 6)});
    return s.finish({pointwise_of(s, average(s, x, s.coin()), channels, s.coin())});
}

Graph outside_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(3, 5), s.extent(4, 6)});
    const bool counting = s.coin();
    return s.finish({average(s, pointwise_of(s, x, channels, !counting), counting)});
}

Graph pool_instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const ValueId x = s.input({s.extent(1, 2), s.extent(1, 4), s.extent(3, 6), s.extent(4, 6)});
    Attributes attributes = {{"kernel_shape", Dims{3, 2}}, {"strides", Dims{s.extent(1, 2), 1}}};
    if (s.coin()) {
        attributes["pads"] = Dims{1, 0, 1, 1};
        attributes["count_include_pad"] = std::int64_t{1};
    }
    return s.finish({s.add("AveragePool", {x}, attributes)});
}

}  // namespace

Rule average_after_convolution() {
    return {
        .name = "average_after_convolution",
        .kind = Kind::alternative,
        .source = "TASO (average pooling as a convolution, and their order)",
        .equation = "Conv(A(x), w, b) ⇒ A(Conv(x, w, b)), or A(Conv(x, w)) + b where A counts its padding",
        .guards =
            "A ∈ {AveragePool, GlobalAveragePool}; a 1×1 convolution with stride 1, no padding or groups, "
            "constant weights; nothing else reads A(x)",
        .apply = convolution_inside,
        .instance = inside_instance};
}

Rule average_before_convolution() {
    return {
        .name = "average_before_convolution",
        .kind = Kind::alternative,
        .source = "TASO (average pooling as a convolution, and their order)",
        .equation = "A(Conv(x, w, b)) ⇒ Conv(A(x), w, b)",
        .guards =
            "A ∈ {AveragePool, GlobalAveragePool}; a 1×1 convolution with stride 1, no padding or groups, "
            "constant weights, without bias where A counts its padding; nothing else reads the convolution",
        .apply = convolution_outside,
        .instance = outside_instance};
}

Rule average_as_convolution() {
    return {.name = "average_as_convolution",
            .kind = Kind::alternative,
            .source = "TASO (average pooling as a convolution)",
            .equation = "AveragePool(x; k) ⇒ Conv(x, 1/|k|; a group per channel)",
            .guards = "no padding, or padding that is counted; sizes rounded down",
            .apply = as_convolution,
            .instance = pool_instance};
}

}  // namespace viridian::rewrite
