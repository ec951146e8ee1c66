#pragma once
// A Walk says how an operator runs over its tensors: its loops, and along which loop each axis of each
// operand runs. It follows from the operator and its attributes. Extents are only checked against it, because
// axes of equal extent would otherwise be taken for each other.
#include <optional>

#include "viridian/graph/operators/row.hpp"

namespace viridian::movement {

// An Access has, for each axis of a tensor, the loop that runs along it, or `no_loop`. The axis of extent 1
// that a reduction leaves or that is broadcast belongs to the loop that it would otherwise run along.
inline constexpr int no_loop = -1;
using Access = std::vector<int>;

struct Walk {
    graph::IterationSpace loops;
    std::vector<Access> inputs;   // one for each input of the node; empty for a scalar or an absent input
    std::vector<Access> outputs;  // one for each output
};

// Returns the walk of a node with known types if it is an element-wise operator, a reduction or a
// normalisation by rows or channels; none for all other nodes, and for one whose tensors do not have the axes
// that its operator gives them.
[[nodiscard]] std::optional<Walk> walk_of(const graph::Graph& graph, const graph::Node& node);

}  // namespace viridian::movement
