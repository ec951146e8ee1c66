// Gather, GatherElements, GatherND: elements by computed places. Negative places count from the end.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/indices.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_gather(Inference& inference) {
    std::optional<Shape> out;
    const auto& data = inference.shape(0);
    const auto& indices = inference.shape(1);
    if (data && indices) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", 0),
                                                             static_cast<std::int64_t>(data->size())));
        out = Shape(data->begin(), data->begin() + axis);
        out->insert(out->end(), indices->begin(), indices->end());
        out->insert(out->end(), data->begin() + axis + 1, data->end());
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto gather = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& data = *call.input(0);
    VIRIDIAN_TRY(const Dims indices, integers(call, 1));
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", 0), data.rank()));
    const AroundAxis around(data.dims, axis);
    Dims dims(data.dims.begin(), data.dims.begin() + axis);
    dims.insert(dims.end(), call.input(1)->dims.begin(), call.input(1)->dims.end());
    dims.insert(dims.end(), data.dims.begin() + axis + 1, data.dims.end());
    VIRIDIAN_TRY(Array<Scalar> y, call.make(data.type, dims));
    std::vector<std::int64_t> from;
    from.reserve(static_cast<std::size_t>(y.count()));
    for (std::int64_t o = 0; o < around.outer; ++o)
        for (const std::int64_t index : indices) {
            VIRIDIAN_TRY(const std::int64_t i, place(index, around.size));
            for (std::int64_t j = 0; j < around.inner; ++j)
                from.push_back(static_cast<std::int64_t>(around.at(o, i, j)));
        }
    take(data, from, y);
    call.outputs[0] = std::move(y);
    return {};
};

Result<void> infer_gather_elements(Inference& inference) {
    inference.set(0, inference.element(0), inference.shape(1));
    return {};
}

constexpr auto gather_elements = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& data = *call.input(0);
    VIRIDIAN_TRY(const std::vector<std::int64_t> from, element_places(call));
    VIRIDIAN_TRY(call.outputs[0], call.make(data.type, call.input(1)->dims));
    take(data, from, call.outputs[0]);
    return {};
};

Result<void> infer_gather_nd(Inference& inference) {
    std::optional<Shape> out;
    const auto& data = inference.shape(0);
    const auto& indices = inference.shape(1);
    if (data && indices && !indices->empty() && indices->back().known()) {
        const auto rank = static_cast<std::int64_t>(data->size());
        const std::int64_t batch = inference.node().integer("batch_dims", 0);
        const std::int64_t width = indices->back().value();
        if (batch < 0 || batch > rank || width > rank - batch)
            return fail(ErrorCode::mismatch, "check the model's shapes",
                        "GatherND indexes {} axes after {} batch axes, but the data has rank {}", width,
                        batch, rank);
        const std::int64_t depth = batch + width;
        out = Shape(indices->begin(), indices->end() - 1);
        out->insert(out->end(), data->begin() + depth, data->end());
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto gather_nd = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& data = *call.input(0);
    VIRIDIAN_TRY(const SlicePlaces places, slice_places(call, call.node.integer("batch_dims", 0)));
    const Dims& indices = call.input(1)->dims;
    Dims dims(indices.begin(), indices.end() - 1);
    dims.insert(dims.end(), data.dims.begin() + places.depth, data.dims.end());
    VIRIDIAN_TRY(Array<Scalar> y, call.make(data.type, dims));
    std::vector<std::int64_t> from;
    from.reserve(static_cast<std::size_t>(y.count()));
    for (const std::int64_t start : places.starts)
        for (std::int64_t j = 0; j < places.size; ++j) from.push_back(start + j);
    take(data, from, y);
    call.outputs[0] = std::move(y);
    return {};
};

}  // namespace

std::span<const OperatorRow> gathering_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Gather", {2, 2}, infer_gather, polynomial_kernel(gather)),
        movement_row("GatherElements", {2, 2}, infer_gather_elements, polynomial_kernel(gather_elements)),
        movement_row("GatherND", {2, 2}, infer_gather_nd, polynomial_kernel(gather_nd)),
    };
    return rows;
}

}  // namespace viridian::graph
