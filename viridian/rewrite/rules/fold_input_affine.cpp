#include <algorithm>

#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"
#include "viridian/rewrite/window.hpp"

namespace viridian::rewrite {
namespace {

// The other operand of the Mul or Add before a convolution: one number, or one per input channel.
struct Before {
    ValueId x, operand;
};

std::optional<Before> before(const Editor& editor, const Convolution& conv, std::string_view op) {
    const Node* node = editor.producer(conv.x, op);
    if (node == nullptr || !editor.used_once(conv.x) || conv.group != 1) return std::nullopt;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const ValueId operand = node->inputs[side];
        const auto dims = editor.dims(operand);
        if (!dims || !editor.fixed(operand) || dims->size() > conv.weights.size() ||
            !editor.same_type(node->inputs[1 - side], conv.x))
            continue;
        bool along_channels = true;
        for (std::size_t i = 0; i < dims->size(); ++i)
            if ((*dims)[i] != 1 && i + conv.weights.size() - dims->size() != 1) along_channels = false;
        if (along_channels) return Before{node->inputs[1 - side], operand};
    }
    return std::nullopt;
}

// Dims [1, C, 1, …] against the weights.
ValueId along_inputs(Editor& editor, const Convolution& conv, ValueId operand) {
    Dims spread(conv.weights.size(), 1);
    const std::int64_t count = editor.graph().value(operand).type.dims().empty() ? 1 : -1;
    spread[1] = count;
    return editor.add("Reshape", {operand, editor.vector_of(spread)});
}

bool apply_scale(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    const auto found = conv ? before(editor, *conv, "Mul") : std::nullopt;
    if (!found || !folds_normally(editor, conv->w, found->operand, false)) return false;
    std::vector<ValueId> inputs = {found->x,
                                   editor.add("Mul", {conv->w, along_inputs(editor, *conv, found->operand)})};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    editor.replace(conv->y, editor.add("Conv", inputs, conv->attributes(1)));
    return true;
}

bool apply_shift(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    const auto found = conv ? before(editor, *conv, "Add") : std::nullopt;
    if (!found || std::any_of(conv->pads.begin(), conv->pads.end(), [](std::int64_t p) { return p != 0; }))
        return false;
    Dims axes;
    for (std::size_t axis = 1; axis < conv->weights.size(); ++axis)
        axes.push_back(static_cast<std::int64_t>(axis));
    const ValueId moved = editor.add("Mul", {conv->w, along_inputs(editor, *conv, found->operand)});
    ValueId bias = editor.add("ReduceSum", {moved, editor.vector_of(axes)}, {{"keepdims", std::int64_t{0}}});
    if (conv->bias != ValueId::none) bias = editor.add("Add", {conv->bias, bias});
    editor.replace(conv->y, editor.add("Conv", {found->x, conv->w, bias}, conv->attributes(1)));
    return true;
}

Graph instance(Random& random, ElementType element, const char* op, bool padded) {
    Sketch s(random, element);
    const std::int64_t channels = s.extent(1, 4);
    const std::int64_t m = s.extent(1, 4);
    const ValueId x = s.input({s.extent(1, 2), channels, s.extent(4, 6), s.extent(3, 5)});
    const ValueId operand = s.constant(s.extent(0, 2) == 0 ? Dims{}
                                       : s.coin()          ? Dims{channels, 1, 1}
                                                           : Dims{1, channels, 1, 1});
    std::vector<ValueId> inputs = {s.either_way(op, x, operand), s.constant({m, channels, 3, 2})};
    if (s.coin()) inputs.push_back(s.constant({m}));
    return s.finish({s.add("Conv", inputs, {{"pads", padded ? Dims{1, 0, 1, 1} : Dims{0, 0, 0, 0}}})});
}

}  // namespace

Rule fold_input_scale() {
    return {
        .name = "fold_input_scale",
        .source = "docs/method.md, 4 (batch norm into either neighbour)",
        .equation = "Conv(x·c, w, b) ⇒ Conv(x, w·c, b)",
        .guards =
            "c is a moderate constant (merge_scales) that varies along the input channels at most, w·c stays "
            "finite and normal; no groups; nothing else reads x·c",
        .polynomial = true,
        .apply = apply_scale,
        .instance = [](Random& r, ElementType e) { return instance(r, e, "Mul", true); }};
}

Rule fold_input_shift() {
    return {
        .name = "fold_input_shift",
        .source = "docs/method.md, 4 (batch norm into either neighbour)",
        .equation = "Conv(x + c, w, b) ⇒ Conv(x, w, b + Σ w·c)",
        .guards =
            "no padding (it is zero, not c); c is constant and varies along the input channels at most; no "
            "groups; nothing else reads x + c",
        .polynomial = true,
        .apply = apply_shift,
        .instance = [](Random& r, ElementType e) { return instance(r, e, "Add", false); }};
}

}  // namespace viridian::rewrite
