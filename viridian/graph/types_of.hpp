#pragma once
// types_of() collects the types of several values, for the functions of operator rows that count.
#include <span>

#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Returns the type of each value; the type of ValueId::none has an undefined element type.
[[nodiscard]] std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> ids);
// Returns whether every type with a defined element type has a known shape.
// Returns whether `a` and `b` can be types of one value: what both of them know is equal.
[[nodiscard]] bool may_agree(const TensorType& a, const TensorType& b);
[[nodiscard]] bool all_known(std::span<const TensorType> types);

}  // namespace viridian::graph
