#include "viridian/graph/reference/movement.hpp"

#include <algorithm>

namespace viridian::graph {

std::int64_t product(const Dims& dims) {
    std::int64_t count = 1;
    for (const std::int64_t dimension : dims) count *= dimension;
    return count;
}

Dims row_major_strides(const Dims& dims) {
    Dims strides(dims.size());
    std::int64_t stride = 1;
    for (std::size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) strides[axis] = stride;
    return strides;
}

std::vector<std::int64_t> strided_index(const Dims& dims, const Dims& strides, std::int64_t offset) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(product(dims)));
    Dims position(dims.size(), 0);
    for (std::int64_t& entry : index) {
        entry = offset;
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            offset += strides[axis];
            if (++position[axis] < dims[axis]) break;
            offset -= strides[axis] * dims[axis];
            position[axis] = 0;
        }
    }
    return index;
}

AroundAxis::AroundAxis(const Dims& dims, std::int64_t axis) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(dims.size()); ++i)
        (i < axis ? outer : i == axis ? size : inner) *= dims[static_cast<std::size_t>(i)];
}

Result<Dims> normalize_axes(Dims axes, std::int64_t rank) {
    for (std::int64_t& axis : axes) {
        VIRIDIAN_TRY(axis, normalize_axis(axis, rank));
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
        return fail(ErrorCode::mismatch, "check the model's axes", "an axis is given twice");
    return axes;
}

std::optional<Dims> constant_integers(const Inference& inference, std::size_t i) {
    const Tensor* tensor = inference.constant(i);
    if (tensor == nullptr || is_floating(tensor->type())) return std::nullopt;
    return tensor->integers();
}

std::optional<std::int64_t> rank_of(const Inference& inference, std::size_t i) {
    if (i >= inference.input_count() || !inference.shape(i)) return std::nullopt;
    return static_cast<std::int64_t>(inference.shape(i)->size());
}

std::optional<std::int64_t> length_of(const Inference& inference, std::size_t i) {
    if (i >= inference.input_count() || !inference.shape(i) || inference.shape(i)->size() != 1 ||
        !(*inference.shape(i))[0].known())
        return std::nullopt;
    const std::int64_t length = (*inference.shape(i))[0].value();
    if (length > 64) return std::nullopt;  // no tensor has so many axes
    return length;
}

}  // namespace viridian::graph
