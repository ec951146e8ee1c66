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

// Returns, by node slot, whether the node must not read or write bf16 in `graph`. These are: nodes of denied
// operators; nodes of inferred operators that the result of a denied one reaches through inferred and clear
// operators alone; and nodes of clear operators between those. A graph with a cycle must stay in f32 as a
// whole.
[[nodiscard]] std::vector<bool> f32_nodes(const graph::Graph& graph);

// Returns whether `choice` stores an input or output of `region` in bf16, although the graph does not, and
// `must_not` holds for a node of the region that reads or writes that value. Values inside a region stay f32.
// The second form takes the result of f32_nodes.
[[nodiscard]] bool rounds_at(const graph::Graph& graph, const Region& region, const Choice& choice,
                             const std::function<bool(graph::NodeId)>& must_not);
[[nodiscard]] bool rounds_at(const graph::Graph& graph, const Region& region, const Choice& choice,
                             const std::vector<bool>& f32_nodes);

// Returns whether `choice` stores any input or output in bf16 that the graph does not.
[[nodiscard]] bool rounds(const graph::Graph& graph, const Region& region, const Choice& choice);

// Returns whether any region of `assignment` rounds in that sense.
[[nodiscard]] bool rounds(const graph::Graph& graph, const Assignment& assignment);

}  // namespace viridian::plan
