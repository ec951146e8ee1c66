// Transpose, Expand, Tile: views of the input by strides, made dense.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

// Without `perm` the axes are reversed.
Result<Dims> permutation(const Node& node, std::int64_t rank) {
    Dims reversed;
    for (std::int64_t axis = rank; axis-- > 0;) reversed.push_back(axis);
    Dims perm = node.get("perm", reversed);
    Dims sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    std::reverse(reversed.begin(), reversed.end());
    if (sorted != reversed)
        return fail(ErrorCode::mismatch, "export the model again", "perm [{}] does not permute {} axes",
                    fmt::join(perm, ","), rank);
    return perm;
}

Result<void> infer_transpose(Inference& inference) {
    std::optional<Shape> out;
    if (const auto& shape = inference.shape(0)) {
        VIRIDIAN_TRY(const Dims perm,
                     permutation(inference.node(), static_cast<std::int64_t>(shape->size())));
        out.emplace();
        for (const std::int64_t axis : perm) out->push_back((*shape)[static_cast<std::size_t>(axis)]);
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto transpose = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const Dims perm, permutation(call.node, x.rank()));
    const Dims from = row_major_strides(x.dims);
    Dims dims, strides;
    for (const std::int64_t axis : perm) {
        dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
        strides.push_back(from[static_cast<std::size_t>(axis)]);
    }
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, dims));
    take(x, strided_index(dims, strides), call.outputs[0]);
    return {};
};

Result<void> infer_expand(Inference& inference) {
    std::optional<Shape> out;
    if (const auto dims = constant_integers(inference, 1)) {
        for (const std::int64_t d : *dims)
            if (d < 0)
                return fail(ErrorCode::mismatch, "check the model's shapes",
                            "Expand cannot make a dimension of {}", d);
        VIRIDIAN_TRY(out, broadcast_shapes({inference.shape(0), shape_of(*dims)}));
    } else if (const auto length = length_of(inference, 1); length && inference.shape(0)) {
        VIRIDIAN_TRY(out, broadcast_shapes({inference.shape(0), Shape(static_cast<std::size_t>(*length))}));
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto expand = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(const Dims wanted, integers(call, 1));
    VIRIDIAN_TRY(const Dims dims, broadcast(call.input(0)->dims, wanted));
    VIRIDIAN_TRY(call.outputs[0], call.make(call.input(0)->type, dims));
    take(*call.input(0), broadcast_index(call.input(0)->dims, dims), call.outputs[0]);
    return {};
};

Result<void> infer_tile(Inference& inference) {
    std::optional<Shape> out = inference.shape(0);
    const auto repeats = constant_integers(inference, 1);
    if (out && repeats && repeats->size() != out->size())
        return fail(ErrorCode::mismatch, "check the model's shapes", "Tile repeats {} axes of {}",
                    repeats->size(), out->size());
    for (std::size_t i = 0; out && i < out->size(); ++i) {
        Dimension& dimension = (*out)[i];
        if (!repeats || ((*repeats)[i] != 1 && !dimension.known()))
            dimension = Dimension();
        else if (dimension.known())
            dimension = Dimension(dimension.value() * std::clamp<std::int64_t>((*repeats)[i], 0, 1 << 20));
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// A tiled axis is two: the repeats with stride 0, then the axis itself.
constexpr auto tile = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const Dims repeats, integers(call, 1));
    if (repeats.size() != x.dims.size())
        return fail(ErrorCode::mismatch, "check the model's shapes", "Tile repeats {} axes of {}",
                    repeats.size(), x.dims.size());
    const Dims from = row_major_strides(x.dims);
    Dims dims, split, strides;
    for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
        if (repeats[axis] < 0 || repeats[axis] > reference_limit)
            return fail(ErrorCode::mismatch, "check the model's shapes",
                        "Tile cannot repeat an axis {} times", repeats[axis]);
        dims.push_back(x.dims[axis] * repeats[axis]);
        split.insert(split.end(), {repeats[axis], x.dims[axis]});
        strides.insert(strides.end(), {0, from[axis]});
    }
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, dims));
    take(x, strided_index(split, strides), call.outputs[0]);
    return {};
};

}  // namespace

std::span<const OperatorRow> transposition_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Transpose", {1, 1}, infer_transpose, polynomial_kernel(transpose),
                     {.precision = precision::only_moves, .elements = Elements::permuted}),
        movement_row("Expand", {2, 2}, infer_expand, polynomial_kernel(expand)),
        movement_row("Tile", {2, 2}, infer_tile, polynomial_kernel(tile)),
    };
    return rows;
}

}  // namespace viridian::graph
