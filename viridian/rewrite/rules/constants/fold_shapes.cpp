// Replaces computations on a known shape by constants: Shape(x), Size(x), Gather(Shape(x), i) and
// Slice(Shape(x), a, b) ⇒ c. ONNX Runtime folds Shape at level 1.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

using graph::Shape;

// The dimensions that the node `shape` lists, known or not.
std::optional<Shape> listed_dimensions(const Editor& editor, const Node& shape) {
    const auto& of = editor.graph().value(shape.inputs[0]).type.shape;
    if (!of) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(of->size());
    const auto clamp = [rank](std::int64_t axis) {
        return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t start = clamp(shape.integer("start", 0));
    const std::int64_t end = std::max(start, clamp(shape.integer("end", rank)));
    return Shape(of->begin() + start, of->begin() + end);
}

// The entries of a shape that a Gather or Slice takes, and the dims of its result.
struct TakenDimensions {
    Shape entries;
    Dims dims;
};

std::optional<TakenDimensions> gathered_dimensions(const Editor& editor, const Node& node,
                                                   const Shape& shape) {
    const Tensor* places = editor.constant(node.inputs[1]);
    if (places == nullptr || is_floating(places->type())) return std::nullopt;
    TakenDimensions taken{{}, places->dims()};
    const auto rank = static_cast<std::int64_t>(shape.size());
    for (std::int64_t i : places->integers()) {
        if (i < 0) i += rank;
        if (i < 0 || i >= rank) return std::nullopt;
        taken.entries.push_back(shape[static_cast<std::size_t>(i)]);
    }
    return taken;
}

std::optional<TakenDimensions> sliced_dimensions(const Editor& editor, const Node& node, const Shape& shape) {
    const auto starts = editor.integers(node.inputs[1]);
    const auto ends = editor.integers(node.inputs[2]);
    const auto steps =
        node.input(4) == ValueId::none ? std::optional(Dims{1}) : editor.integers(node.input(4));
    if (!starts || !ends || starts->size() != 1 || ends->size() != 1 || steps != std::optional(Dims{1}))
        return std::nullopt;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto clamp = [rank](std::int64_t i) {
        return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank);
    };
    const std::int64_t start = clamp((*starts)[0]);
    const std::int64_t end = std::max(start, clamp((*ends)[0]));
    return TakenDimensions{Shape(shape.begin() + start, shape.begin() + end), {end - start}};
}

bool apply_fold_shapes(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.op.domain().empty() || node.outputs.size() != 1 || editor.is_output(node.outputs[0]))
        return false;
    std::optional<TakenDimensions> taken;
    if (node.op == op::Shape || node.op == op::Size) {
        auto shape = node.op == op::Shape ? listed_dimensions(editor, node)
                                          : editor.graph().value(node.inputs[0]).type.shape;
        if (!shape) return false;
        taken = TakenDimensions{*shape, {static_cast<std::int64_t>(shape->size())}};
    } else if (node.op == op::Gather || node.op == op::Slice) {
        const Node* source = editor.producer(node.inputs[0], op::Shape);
        if (source == nullptr) return false;
        const auto shape = listed_dimensions(editor, *source);
        if (!shape) return false;
        taken = node.op == op::Gather ? gathered_dimensions(editor, node, *shape)
                                      : sliced_dimensions(editor, node, *shape);
    }
    if (!taken) return false;
    Dims values;
    for (const graph::Dimension& dimension : taken->entries) {
        if (!dimension.known()) return false;
        values.push_back(dimension.value());
    }
    if (node.op == op::Size) {
        std::int64_t count = 1;
        for (const std::int64_t value : values) count *= value;
        values = {count};
        taken->dims = {};
    }
    editor.replace(node.outputs[0], editor.constant(Tensor::i64(taken->dims, values)));
    return true;
}

Graph fold_shapes_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5), g.extent(1, 3)};
    const ValueId x = g.input(dims);
    const ValueId shape = g.add(op::Shape, {x});
    const ValueId batch = g.add(op::Slice, {shape, g.integers({0}), g.integers({1})});
    const ValueId rest = g.integers({-1});
    return g.finish({g.add(op::Reshape, {x, g.add(op::Concat, {batch, rest}, {{"axis", std::int64_t{0}}})})});
}

}  // namespace

Rule fold_shapes() {
    return {.name = "fold_shapes",
            .source = "ONNX Runtime level 1 (constant folding of Shape)",
            .equation = "Shape(x), Size(x), Gather(Shape(x), i), Slice(Shape(x), a, b) ⇒ c",
            .guards = "the dimensions asked for are known; no graph output",
            .polynomial = true,
            .apply = apply_fold_shapes,
            .instance = fold_shapes_instance};
}

}  // namespace viridian::rewrite
