#pragma once
// Inputs made up from a seed, of the kinds a network expects.
#include "viridian/graph/graph.hpp"

namespace viridian::execute {

// One tensor per graph input: floating ones are standard normal; integers that index a table (through Gather)
// are drawn from the table's rows, other integers and booleans are 0 or 1. The same seed gives the same
// tensors anywhere. Errors: unsupported when a dimension is not bound.
[[nodiscard]] Result<std::vector<graph::Tensor>> seeded_inputs(const graph::Graph& graph, std::uint64_t seed);

}  // namespace viridian::execute
