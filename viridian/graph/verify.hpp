#pragma once
// verify() checks that a graph keeps the rules on which the other rooms rely.
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Checks that `graph` and the bodies of its nodes are in single assignment and have no dangling value and no
// cycle, that nodes have as many inputs and outputs as the rows of their operators allow, that types agree
// with the shape rules, and that every state has a new value, and a first value if any, of its own type. The
// rewriter calls it after every rewrite if its option `verify` is set. Errors: broken_invariant, naming the
// node, value or graph; malformed for a cycle; those of infer_types.
[[nodiscard]] Result<void> verify(const Graph& graph);

}  // namespace viridian::graph
