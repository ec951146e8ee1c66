#include <algorithm>

#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

const Node* reshaping(const Editor& editor, ValueId value) {
    for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
        if (const Node* node = editor.producer(value, op)) return node;
    return nullptr;
}

// The dims to reshape to: all known, or all but one.
std::optional<Dims> target(const Editor& editor, ValueId value) {
    const auto& shape = editor.graph().value(value).type.shape;
    if (!shape) return std::nullopt;
    Dims dims;
    for (const graph::Dimension& dimension : *shape)
        dims.push_back(dimension.known() ? dimension.value() : -1);
    const auto zeros = std::count(dims.begin(), dims.end(), 0);
    return zeros == 0 && std::count(dims.begin(), dims.end(), -1) <= 1 ? std::optional(dims) : std::nullopt;
}

bool apply(Editor& editor, NodeId at) {
    const Node& second = editor.node(at);
    if (second.outputs.empty() || reshaping(editor, second.outputs[0]) != &second) return false;
    const Node* first = reshaping(editor, second.inputs[0]);
    const auto dims = target(editor, second.outputs[0]);
    if (first == nullptr || !dims) return false;
    editor.replace(second.outputs[0], editor.add("Reshape", {first->inputs[0], editor.vector_of(*dims)}));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(1, 4), s.extent(1, 5)};
    const ValueId x = s.input(dims);
    const ValueId first = s.coin() ? s.add("Flatten", {x}, {{"axis", s.extent(0, 3)}})
                                   : s.add("Unsqueeze", {x, s.integers({s.extent(0, 3)})});
    const ValueId second = s.coin() ? s.add("Reshape", {first, s.integers({dims[2], -1})})
                                    : s.add("Unsqueeze", {first, s.integers({0})});
    return s.finish({s.add("Mul", {second, second})});
}

}  // namespace

Rule merge_reshapes() {
    return {.name = "merge_reshapes",
            .source = "ONNX Runtime level 1 (reshape fusion)",
            .equation = "Reshape(Reshape(x, s), t) ⇒ Reshape(x, t), for Flatten, Squeeze and Unsqueeze too",
            .guards = "t is known but for at most one dimension, and has no 0",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
