// The ways back from windows: MaxUnpool (values to the cells that MaxPool named) and Col2Im (sums overlapping
// blocks into an image).
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

// The extents that MaxPool had before it, as far as its attributes tell; the indices count in them.
Result<Shape> unpooled(const Node& node, const Shape& x) {
    const Dims kernel = node.get("kernel_shape", Dims());
    VIRIDIAN_TRY(const Windows windows, Windows::of(node, shape_of(kernel)));
    if (kernel.size() + 2 != x.size())
        return wrong_attribute("`kernel_shape` of node `{}` must hold {} numbers", node.name, x.size() - 2);
    Shape out = {x[0], x[1]};
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        const Dimension& extent = x[axis + 2];
        if (!extent.known()) {
            out.emplace_back();
            continue;
        }
        if (extent.value() > std::int64_t{1} << 31)
            return wrong_shape("MaxUnpool `{}` has {} cells along an axis", node.name, extent.value());
        const std::int64_t full = (extent.value() - 1) * windows.strides[axis] + kernel[axis] -
                                  windows.pads_begin[axis] - windows.pads_end[axis];
        if (full < 0) return wrong_shape("MaxUnpool `{}` has {} cells along an axis", node.name, full);
        out.emplace_back(full);
    }
    return out;
}

Result<void> infer_unpool(Inference& inference) {
    VIRIDIAN_TRY(expect_rank(inference, 0, 3));
    VIRIDIAN_TRY(expect_integer(inference, 1, 2));
    std::optional<Shape> out;
    if (const auto& x = inference.shape(0)) {
        VIRIDIAN_TRY(expect_shape(inference, 1, *x));
        VIRIDIAN_TRY(out, unpooled(inference.node(), *x));
        if (const Tensor* wanted = inference.constant(2)) {
            if (wanted->count() != static_cast<std::int64_t>(x->size()))
                return wrong_shape("MaxUnpool `{}` has an output shape of {} numbers", inference.node().name,
                                   wanted->count());
            for (std::size_t axis = 0; axis < out->size(); ++axis) {
                const std::int64_t extent = wanted->integer(static_cast<std::int64_t>(axis));
                if (extent < 0 || ((*out)[axis].known() && extent < (*out)[axis].value()))
                    return wrong_shape("MaxUnpool `{}` does not fit its output shape", inference.node().name);
                (*out)[axis] = Dimension(extent);
            }
        } else if (inference.has_input(2)) {
            out = Shape(x->size());
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto unpool = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    const auto& x = *call.input(0);
    auto& y = call.outputs[0];
    VIRIDIAN_TRY(const Shape named, unpooled(call.node, shape_of(x.dims)));
    Dims extents;
    for (const Dimension& dimension : named) extents.push_back(dimension.value());
    VIRIDIAN_TRY(element_count(extents));
    const Grid from(extents);
    const auto spread = [&](const auto& values, auto& to) -> Result<void> {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t index = call.input(1)->integer[i];
            if (index < 0 || index >= from.count)
                return wrong_shape("MaxUnpool `{}` has an index of {} in {} cells", call.node.name, index,
                                   from.count);
            const Dims at = from.position(index);
            std::int64_t cell = 0;
            for (std::size_t axis = 0; axis < at.size(); ++axis) cell = cell * y.dims[axis] + at[axis];
            to[static_cast<std::size_t>(cell)] = values[i];
        }
        return {};
    };
    return x.floating() ? spread(x.real, y.real) : spread(x.integer, y.integer);
};

Result<void> infer_fold(Inference& inference) {
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 3));
    VIRIDIAN_TRY(expect_integer(inference, 1, 2));
    const Tensor* image = inference.constant(1);
    const Tensor* block = inference.constant(2);
    std::optional<Shape> out;
    if (const auto& x = inference.shape(0); x && image != nullptr && block != nullptr) {
        const Dims kernel = block->integers();
        const Dims extents = image->integers();
        if (kernel.size() != extents.size() || kernel.empty())
            return wrong_shape("Col2Im `{}` has an image and a block of different rank",
                               inference.node().name);
        for (std::size_t axis = 0; axis < kernel.size(); ++axis)
            if (kernel[axis] < 1 || kernel[axis] > 65536 || extents[axis] < 0)
                return wrong_shape("Col2Im `{}` has blocks of {}", inference.node().name, kernel[axis]);
        VIRIDIAN_TRY(const Windows windows, Windows::of(inference.node(), shape_of(kernel)));
        VIRIDIAN_TRY(const std::int64_t taps, element_count(kernel));
        VIRIDIAN_TRY(element_count(extents));
        const Dimension& columns = (*x)[1];
        if (columns.known() && (taps < 1 || columns.value() % taps != 0))
            return wrong_shape("Col2Im `{}` has {} rows for blocks of {}", inference.node().name,
                               columns.value(), taps);
        std::int64_t blocks = 1;
        out = Shape{(*x)[0], columns.known() ? Dimension(columns.value() / taps) : Dimension()};
        for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
            VIRIDIAN_TRY(const Dimension steps, windows.output(axis, Dimension(extents[axis])));
            blocks = capped_product(blocks, steps.value());
            out->emplace_back(extents[axis]);
        }
        if (differ((*x)[2], Dimension(blocks)))
            return wrong_shape("Col2Im `{}` has {} blocks, the image {}", inference.node().name,
                               (*x)[2].value(), blocks);
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto fold_columns = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    using Wide = Accumulator<Scalar>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    Array<Scalar>& y = call.outputs[0];
    if (call.outputs[0].dims.empty())  // an image or block that the shape rule could not read
        return wrong_shape("Col2Im `{}` has an image or a block that is not a short vector", call.node.name);
    const Grid image(call.input(1)->integer);
    const Grid block(call.input(2)->integer);
    VIRIDIAN_TRY(const Windows windows, Windows::of(call.node, shape_of(block.extents)));
    Dims steps;
    for (std::size_t axis = 0; axis < image.extents.size(); ++axis) {
        VIRIDIAN_TRY(const Dimension extent, windows.output(axis, Dimension(image.extents[axis])));
        steps.push_back(extent.value());
    }
    const Grid blocks(steps);
    VIRIDIAN_TRY(const std::vector<std::int64_t> cells, windows.cells(image, blocks, block));
    for (std::int64_t plane = 0; plane < y.dims[0] * y.dims[1]; ++plane) {
        std::vector<Wide> sums(static_cast<std::size_t>(image.count), Wide(0));
        for (std::int64_t o = 0; o < blocks.count; ++o)
            for (std::int64_t k = 0; k < block.count; ++k)
                if (const std::int64_t cell = cells[static_cast<std::size_t>(o * block.count + k)]; cell >= 0)
                    sums[static_cast<std::size_t>(cell)] +=
                        Wide(x.real[static_cast<std::size_t>((plane * block.count + k) * blocks.count + o)]);
        for (std::size_t i = 0; i < sums.size(); ++i)
            y.real[static_cast<std::size_t>(plane * image.count) + i] = static_cast<Scalar>(sums[i]);
    }
    return {};
};

Result<void> infer_floating_fold(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 0));
    return infer_fold(inference);
}

Flop fold_flop(const Operation& operation) { return Flop(count_of(operation.inputs[0])); }

}  // namespace

std::span<const OperatorRow> unpooling_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("MaxUnpool", {2, 3}, infer_unpool, real_kernel(unpool), {.elements = Elements::moved}),
        movement_row("Col2Im", {3, 3}, infer_floating_fold, polynomial_kernel(fold_columns),
                     {.sets = {.any = 18}, .flop = fold_flop}),
    };
    return rows;
}

}  // namespace viridian::graph
