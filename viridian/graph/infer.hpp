#pragma once
// Types and shapes of every value, by the operators' own rules.
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Fills in the type of every intermediate value; bodies too. Operators without a row keep what they had.
// Errors: mismatch, malformed, with the node's name.
[[nodiscard]] Result<void> infer_types(Graph& graph);

// The same for one node whose inputs are already typed: what a builder calls as it goes.
[[nodiscard]] Result<void> infer_node_types(Graph& graph, NodeId id);

// Replaces symbolic dimensions of the inputs by numbers and infers again. Errors: missing_entry for a symbol
// that no input has, mismatch.
[[nodiscard]] Result<void> bind_dimension(Graph& graph, const std::string& symbol, std::int64_t value);

}  // namespace viridian::graph
