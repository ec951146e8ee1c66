#include "viridian/graph/reference/indices.hpp"

namespace viridian::graph {

Result<std::int64_t> place(std::int64_t index, std::int64_t size) {
    if (index < -size || index >= size)
        return fail(ErrorCode::mismatch, "check the model's inputs", "index {} is outside an axis of {}",
                    index, size);
    return index < 0 ? index + size : index;
}

Result<std::vector<std::int64_t>> element_places(const Dims& data, const Dims& dims, const Dims& indices,
                                                 std::int64_t axis) {
    VIRIDIAN_TRY(axis, normalize_axis(axis, static_cast<std::int64_t>(data.size())));
    const auto along = static_cast<std::size_t>(axis);
    bool fits = dims.size() == data.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = i == along || dims[i] <= data[i];
    if (!fits)
        return fail(ErrorCode::mismatch, "check the model's shapes",
                    "indices of shape [{}] do not fit data of shape [{}]", fmt::join(dims, ","),
                    fmt::join(data, ","));
    Dims strides = row_major_strides(data);
    const std::int64_t stride = strides[along];
    strides[along] = 0;
    std::vector<std::int64_t> from = strided_index(dims, strides);
    for (std::size_t i = 0; i < from.size(); ++i) {
        VIRIDIAN_TRY(const std::int64_t at, place(indices[i], data[along]));
        from[i] += at * stride;
    }
    return from;
}

Result<SlicePlaces> slice_places(const Dims& data, const Dims& dims, const Dims& indices,
                                 std::int64_t batch_dims) {
    const auto rank = static_cast<std::int64_t>(data.size());
    const std::int64_t width = dims.empty() ? -1 : dims.back();
    SlicePlaces places;
    bool fits = width >= 0 && width <= rank && batch_dims >= 0 && batch_dims <= rank - width &&
                batch_dims < static_cast<std::int64_t>(dims.size());
    places.depth = fits ? batch_dims + width : 0;
    std::int64_t batches = 1;
    for (std::size_t i = 0; fits && i < static_cast<std::size_t>(batch_dims); ++i) {
        fits = dims[i] == data[i];
        batches *= dims[i];
    }
    if (!fits)
        return fail(ErrorCode::mismatch, "check the model's shapes",
                    "indices of shape [{}] do not fit data of shape [{}]", fmt::join(dims, ","),
                    fmt::join(data, ","));
    const Dims strides = row_major_strides(data);
    for (auto axis = static_cast<std::size_t>(places.depth); axis < data.size(); ++axis)
        places.size *= data[axis];
    const std::int64_t batch_size = batch_dims == 0 ? 0 : strides[static_cast<std::size_t>(batch_dims - 1)];
    const std::int64_t rows = product(Dims(dims.begin(), dims.end() - 1));
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t start = row / (rows / batches) * batch_size;
        for (std::int64_t k = 0; k < width; ++k) {
            const auto axis = static_cast<std::size_t>(batch_dims + k);
            VIRIDIAN_TRY(const std::int64_t at,
                         place(indices[static_cast<std::size_t>(row * width + k)], data[axis]));
            start += at * strides[axis];
        }
        places.starts.push_back(start);
    }
    return places;
}

}  // namespace viridian::graph
