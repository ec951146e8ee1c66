#pragma once
// These functions say which nodes of an f32 network may read or write bf16. The class of each operator and
// the reason for it stand in its row (viridian/graph/operators/row.hpp); here the classes spread along the
// graph as TensorFlow's automatic mixed precision spreads them (docs/method.md, 7).
#include <functional>

#include "viridian/graph/operators/row.hpp"
#include "viridian/plan/assignment.hpp"

namespace viridian::plan {

using Safety = graph::NumericSafety;

// Returns the class of the node's operator, which its row states; an operator without a row is denied.
[[nodiscard]] Safety bf16_safety(const graph::Node& node);

// Returns, for each node slot of `graph`, whether the node must not read or write bf16. These nodes are:
// - nodes of denied operators;
// - nodes of inferred operators, if the result of a denied operator reaches them through inferred and clear
//   operators alone;
// - nodes of clear operators between two such nodes.
// All nodes of a graph with a cycle must stay in f32.
[[nodiscard]] std::vector<bool> f32_nodes(const graph::Graph& graph);

// Returns whether `choice` rounds an input or output of `region` at a node for which `must_not` holds. An
// input or output is rounded if `choice` stores it in bf16 and the type in `graph` is another. The nodes
// that count are those of the region that read the input, or the one that writes the output. Values inside
// a region stay f32. The second form takes the result of f32_nodes().
[[nodiscard]] bool rounds_at(const graph::Graph& graph, const Region& region, const Choice& choice,
                             const std::function<bool(graph::NodeId)>& must_not);
[[nodiscard]] bool rounds_at(const graph::Graph& graph, const Region& region, const Choice& choice,
                             const std::vector<bool>& f32_nodes);

// Returns whether `choice` rounds the new value of a state, or the old value of a state in the region that
// writes its new one. A region that only reads a state may read it rounded.
[[nodiscard]] bool rounds_state(const graph::Graph& graph, const Region& region, const Choice& choice);

// Returns whether `choice` rounds any input or output of `region` in the sense of rounds_at().
[[nodiscard]] bool rounds(const graph::Graph& graph, const Region& region, const Choice& choice);

// Returns whether the choice of any region of `assignment` rounds in the sense of rounds_at().
[[nodiscard]] bool rounds(const graph::Graph& graph, const Assignment& assignment);

}  // namespace viridian::plan
