#pragma once
// Makes inputs from a seed, of the kinds that a network expects.
#include "viridian/graph/graph.hpp"

namespace viridian::prove {

// Returns one tensor per graph input, and then one per state: its first value, or a tensor like that of an
// input if it has none. Floating elements are standard normal. Integers that index a table
// (through Gather) are drawn from the table's rows; other integers and booleans are 0 or 1. The learning rate
// of a training step, `viridian.rate`, is 1. A seed gives equal tensors on every machine. Errors: unsupported
// if a dimension is not bound; limit_exceeded or out_of_memory if an input is too large.
[[nodiscard]] Result<std::vector<graph::Tensor>> seeded_inputs(const graph::Graph& graph, std::uint64_t seed);

}  // namespace viridian::prove
