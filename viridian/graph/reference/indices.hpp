#pragma once
// These functions compute and check the positions that Gather* operators read and Scatter* operators write.
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {

// Maps an index in [-size, size) to [0, size); negative indices count from the end. Errors: mismatch.
[[nodiscard]] Result<std::int64_t> place(std::int64_t index, std::int64_t size);

// Returns, for GatherElements and ScatterElements, the position in the data (input 0) that each element of
// the indices (input 1) names. It has the same coordinates, except that the index is the coordinate along
// `axis`. Errors: mismatch.
[[nodiscard]] Result<std::vector<std::int64_t>> element_places(const Dims& data, const Dims& dims,
                                                               const Dims& indices, std::int64_t axis);
template <class Scalar>
[[nodiscard]] Result<std::vector<std::int64_t>> element_places(const Call<Scalar>& call) {
    VIRIDIAN_TRY(const Dims indices, integers(call, 1));
    return element_places(call.input(0)->dims, call.input(1)->dims, indices, call.node.integer("axis", 0));
}

// SlicePlaces are the slices of the data (input 0) that the rows of the indices (input 1) name, for
// GatherND and ScatterND.
struct SlicePlaces {
    std::vector<std::int64_t> starts;  // first element of each slice
    std::int64_t size = 1;             // elements of a slice
    std::int64_t depth = 0;            // axes that a row and the batch fix
};
// Returns these slices. `data` and `dims` are the dimensions of data and indices. Errors: mismatch.
[[nodiscard]] Result<SlicePlaces> slice_places(const Dims& data, const Dims& dims, const Dims& indices,
                                               std::int64_t batch_dims);
template <class Scalar>
[[nodiscard]] Result<SlicePlaces> slice_places(const Call<Scalar>& call, std::int64_t batch_dims) {
    VIRIDIAN_TRY(const Dims indices, integers(call, 1));
    return slice_places(call.input(0)->dims, call.input(1)->dims, indices, batch_dims);
}

}  // namespace viridian::graph
