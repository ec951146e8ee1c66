#pragma once
// The types of several values at once: what an operator's rules are asked with.
#include <span>

#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// A value that is not given has the type that is undefined.
[[nodiscard]] std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> ids);
// Of those that are given.
[[nodiscard]] bool all_known(std::span<const TensorType> types);

}  // namespace viridian::graph
