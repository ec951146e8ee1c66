#include <algorithm>
#include <limits>
#include <numeric>

#include "viridian/graph/operators/reduction/reduction.hpp"

namespace viridian::graph {
namespace {

// Axes a node reduces, ascending, given those its input names.
Result<Dims> reduced_axes(const Node& node, Dims axes, std::int64_t rank) {
    if (axes.empty() && node.integer("noop_with_empty_axes", 0) == 0) {
        axes.resize(static_cast<std::size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
    }
    return normalize_axes(std::move(axes), rank);
}

bool holds(const Dims& axes, std::size_t axis) {
    return std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis));
}

// The types alone say which axes were reduced: those the result lacks, or has as 1.
IterationSpace space_by_extents(const Operation& operation) {
    const Dims in = operation.inputs[0].dims();
    const Dims out = operation.outputs[0].dims();
    IterationSpace space;
    std::size_t next = 0;
    for (const std::int64_t size : in) {
        const bool same_rank = in.size() == out.size();
        const bool kept = next < out.size() && out[next] == size;
        space.push_back({size, !kept});
        if (kept || same_rank) ++next;
    }
    return space;
}

IterationSpace space_of(const Operation& operation, Dims axes) {
    const Dims in = operation.inputs[0].dims();
    const auto reduced = reduced_axes(operation.node, std::move(axes), static_cast<std::int64_t>(in.size()));
    if (!reduced.ok()) return space_by_extents(operation);  // a node that infer_reduction() refuses
    IterationSpace space;
    for (std::size_t axis = 0; axis < in.size(); ++axis) space.push_back({in[axis], holds(*reduced, axis)});
    return space;
}

}  // namespace

Result<void> infer_reduction(Inference& inference) {
    const auto& shape = inference.shape(0);
    const bool keep = inference.node().integer("keepdims", 1) != 0;
    std::optional<Shape> out;
    std::optional<Dims> axes = Dims();
    if (inference.has_input(1)) axes = constant_integers(inference, 1);
    if (shape && axes) {
        VIRIDIAN_TRY(const Dims reduced,
                     reduced_axes(inference.node(), *axes, static_cast<std::int64_t>(shape->size())));
        out.emplace();
        for (std::size_t axis = 0; axis < shape->size(); ++axis)
            if (!holds(reduced, axis))
                out->push_back((*shape)[axis]);
            else if (keep)
                out->push_back(Dimension(1));
    } else if (shape && keep) {
        out = Shape(shape->size());
    } else if (const auto count = length_of(inference, 1);
               shape && count && *count > 0 && *count <= static_cast<std::int64_t>(shape->size())) {
        out = Shape(shape->size() - static_cast<std::size_t>(*count));
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

Flop reduction_flop(const Operation& operation) { return Flop(product(operation.inputs[0].dims())); }

IterationSpace reduction_space(const Operation& operation) {
    Dims axes;
    if (operation.node.input(1) != ValueId::none) {
        const Tensor* given = operation.constants.size() > 1 ? operation.constants[1] : nullptr;
        if (given == nullptr || is_floating(given->type())) return space_by_extents(operation);
        axes = given->integers();
    }
    return space_of(operation, std::move(axes));
}

IterationSpace arg_space(const Operation& operation) {
    return space_of(operation, {operation.node.integer("axis", 0)});
}

std::int64_t least_of(ElementType type) {
    if (!is_signed(type)) return 0;
    return -(std::int64_t{1} << (size_of(type) * 8 - 2)) * 2;
}

std::int64_t greatest_of(ElementType type) {
    if (type == ElementType::boolean) return 1;
    if (type == ElementType::u64) return -1;
    if (!is_signed(type)) return (std::int64_t{1} << (size_of(type) * 8)) - 1;
    return -(least_of(type) + 1);
}

Result<ReducedAxes> ReducedAxes::of(const Node& node, const Dims& dims, Dims axes) {
    VIRIDIAN_TRY(axes, reduced_axes(node, std::move(axes), static_cast<std::int64_t>(dims.size())));
    ReducedAxes result;
    Dims kept = dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (holds(axes, axis)) {
            result.each *= dims[axis];
            kept[axis] = 1;
        }
        if (!holds(axes, axis) || node.integer("keepdims", 1) != 0) result.out.push_back(kept[axis]);
    }
    result.to = broadcast_index(kept, dims);
    result.count = product(kept);
    return result;
}

}  // namespace viridian::graph
