#pragma once
// The walk of a contraction, for fusion with what comes before and behind it.
#include "viridian/movement/walk.hpp"

namespace viridian::movement {

// Returns the walk of a MatMul of matrices or of a Gemm: loops
// over the axes of the result and then, reduced, over the axis that is summed. Returns none for all other
// nodes, and if a type is unknown.
[[nodiscard]] std::optional<Walk> contraction_walk_of(const graph::Graph& graph, const graph::Node& node);

}  // namespace viridian::movement
