#pragma once
// Places that Gather* read and Scatter* write, checked.
#include "viridian/graph/operators/movement.hpp"

namespace viridian::graph {

// An index into `size` entries, negative from the end. Errors: mismatch.
[[nodiscard]] Result<std::int64_t> place(std::int64_t index, std::int64_t size);

// GatherElements, ScatterElements: for each element of the indices (input 1), the element of the data (input
// 0) at the same position except along `axis`, where the index says.
[[nodiscard]] Result<std::vector<std::int64_t>> element_places(const Dims& data, const Dims& dims,
                                                               const Dims& indices, std::int64_t axis);
template <class Scalar>
[[nodiscard]] Result<std::vector<std::int64_t>> element_places(const Call<Scalar>& call) {
    VIRIDIAN_TRY(const Dims indices, integers(call, 1));
    return element_places(call.input(0)->dims, call.input(1)->dims, indices, call.node.integer("axis", 0));
}

// GatherND, ScatterND: each row of the indices (input 1) names a slice of the data (input 0).
struct SlicePlaces {
    std::vector<std::int64_t> starts;  // first element of each slice
    std::int64_t size = 1;             // elements of a slice
    std::int64_t depth = 0;            // axes that a row and the batch fix
};
[[nodiscard]] Result<SlicePlaces> slice_places(const Dims& data, const Dims& dims, const Dims& indices,
                                               std::int64_t batch_dims);
template <class Scalar>
[[nodiscard]] Result<SlicePlaces> slice_places(const Call<Scalar>& call, std::int64_t batch_dims) {
    VIRIDIAN_TRY(const Dims indices, integers(call, 1));
    return slice_places(call.input(0)->dims, call.input(1)->dims, indices, batch_dims);
}

}  // namespace viridian::graph
