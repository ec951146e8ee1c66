// CenterCropPad: cuts or zero-pads axes around their centre to given extents.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_center(Inference& inference) {
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        const auto rank = static_cast<std::int64_t>(out->size());
        Dims axes = inference.node().get("axes", Dims());
        if (!inference.node().has("axes"))
            for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
        const Tensor* wanted = inference.constant(1);
        if (wanted != nullptr && wanted->count() != static_cast<std::int64_t>(axes.size()))
            return wrong_shape("CenterCropPad `{}` has {} extents for {} axes", inference.node().name,
                               wanted->count(), axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i) {
            VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(axes[i], rank));
            const std::int64_t extent = wanted == nullptr ? 0 : wanted->integer(static_cast<std::int64_t>(i));
            if (extent < 0)
                return wrong_shape("CenterCropPad `{}` has an extent of {}", inference.node().name, extent);
            (*out)[static_cast<std::size_t>(axis)] = wanted == nullptr ? Dimension() : Dimension(extent);
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto center = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    const auto& x = *call.input(0);
    auto& y = call.outputs[0];
    if (y.type != x.type || y.dims.size() != x.dims.size())
        return wrong_shape("CenterCropPad `{}` to extents that are not decided", call.node.name);
    const Grid to(y.dims);
    const auto move = [&](const auto& from, auto& values) {
        for (std::int64_t i = 0; i < to.count; ++i) {
            const Dims at = to.position(i);
            std::int64_t cell = 0;
            for (std::size_t axis = 0; axis < at.size() && cell >= 0; ++axis) {
                const std::int64_t more = x.dims[axis] - y.dims[axis];  // cut if positive, padded if negative
                const std::int64_t coordinate = at[axis] + (more >= 0 ? more / 2 : -(-more / 2));
                const bool inside = coordinate >= 0 && coordinate < x.dims[axis];
                cell = inside ? cell * x.dims[axis] + coordinate : -1;
            }
            if (cell >= 0) values[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(cell)];
        }
    };
    if (x.floating())
        move(x.real, y.real);
    else
        move(x.integer, y.integer);
    return {};
};

}  // namespace

std::span<const OperatorRow> center_crop_pad_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("CenterCropPad", {2, 2}, infer_center, polynomial_kernel(center),
                     {.precision = precision::only_moves, .elements = Elements::moved, .sets = {.any = 18}}),
    };
    return rows;
}

}  // namespace viridian::graph
