// Joins two reshapes: Reshape(Reshape(x, s), t) ⇒ Reshape(x, t), for Flatten, Squeeze and Unsqueeze too. ONNX
// Runtime fuses reshapes at level 1.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

const Node* reshaping_producer(const Editor& editor, ValueId value) {
    for (const graph::KnownOperator each : {op::Reshape, op::Flatten, op::Squeeze, op::Unsqueeze})
        if (const Node* node = editor.producer(value, each)) return node;
    return nullptr;
}

// The dims to reshape to: all known, or all but one.
std::optional<Dims> reshape_target(const Editor& editor, ValueId value) {
    const auto& shape = editor.graph().value(value).type.shape;
    if (!shape) return std::nullopt;
    Dims dims;
    for (const graph::Dimension& dimension : *shape)
        dims.push_back(dimension.known() ? dimension.value() : -1);
    const auto zeros = std::count(dims.begin(), dims.end(), 0);
    return zeros == 0 && std::count(dims.begin(), dims.end(), -1) <= 1 ? std::optional(dims) : std::nullopt;
}

// Whether a tensor of `type` can have these dims. The first reshape may be to a shape that is computed in the
// run; then nothing has told yet that the two together cannot be.
bool may_become(const graph::TensorType& type, const Dims& dims) {
    if (!type.known()) return true;
    const auto count = graph::element_count(type.dims());
    std::int64_t known = 1;
    for (const std::int64_t extent : dims)
        if (extent > 0 && __builtin_mul_overflow(known, extent, &known)) return false;
    const bool open = std::ranges::count(dims, -1) > 0;
    return count.ok() && (open ? *count % known == 0 : *count == known);
}

bool apply_merge_reshapes(Editor& editor, NodeId at) {
    const Node& second = editor.node(at);
    if (second.outputs.empty() || reshaping_producer(editor, second.outputs[0]) != &second) return false;
    const Node* first = reshaping_producer(editor, second.inputs[0]);
    const auto dims = reshape_target(editor, second.outputs[0]);
    if (first == nullptr || !dims || !may_become(editor.graph().value(first->inputs[0]).type, *dims))
        return false;
    editor.replace(second.outputs[0], editor.add(op::Reshape, {first->inputs[0], editor.vector_of(*dims)}));
    return true;
}

Graph merge_reshapes_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(1, 4), g.extent(1, 5)};
    const ValueId x = g.input(dims);
    const ValueId first = g.coin() ? g.add(op::Flatten, {x}, {{"axis", g.extent(0, 3)}})
                                   : g.add(op::Unsqueeze, {x, g.integers({g.extent(0, 3)})});
    const ValueId second = g.coin() ? g.add(op::Reshape, {first, g.integers({dims[2], -1})})
                                    : g.add(op::Unsqueeze, {first, g.integers({0})});
    return g.finish({g.add(op::Mul, {second, second})});
}

}  // namespace

Rule merge_reshapes() {
    return {.name = "merge_reshapes",
            .source = "ONNX Runtime level 1 (reshape fusion)",
            .equation = "Reshape(Reshape(x, s), t) ⇒ Reshape(x, t), for Flatten, Squeeze and Unsqueeze too",
            .guards = "t is known but for at most one dimension, has no 0, and x has as many elements",
            .polynomial = true,
            .apply = apply_merge_reshapes,
            .instance = merge_reshapes_instance};
}

}  // namespace viridian::rewrite
