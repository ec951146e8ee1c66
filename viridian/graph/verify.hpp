#pragma once
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Everything a graph must keep: single assignment, no dangling value, no cycle, arities and body signatures
// of the operator rows, types that agree with the shape rules. Errors: broken_invariant, with the node's
// name. Run after every rewrite in tests and by the rewrite wrapper.
[[nodiscard]] Result<void> verify(const Graph& graph);

}  // namespace viridian::graph
