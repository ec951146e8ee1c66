#pragma once
// verify() checks that a graph keeps the rules on which the other rooms rely.
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Checks that `graph` is in single assignment, has no dangling value and no cycle, that its nodes have the
// arities and bodies that the rows of their operators demand, and that types agree with the shape rules. The
// rewriter calls it after every rewrite. Errors: broken_invariant, with the node's name.
[[nodiscard]] Result<void> verify(const Graph& graph);

}  // namespace viridian::graph
