#pragma once
// Views are nodes that give the elements of a tensor another shape or order and compute nothing. A kernel
// reads through them, so that they move no words and end no region.
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::movement {

// Returns whether `node` is a view: Reshape, Flatten, Squeeze, Unsqueeze, Transpose or Identity.
[[nodiscard]] bool is_view(const graph::Node& node);

// Returns the value behind all views that lead to `value`.
[[nodiscard]] graph::ValueId behind_views(const graph::Graph& graph, graph::ValueId value);

// A Seen value lies behind views that keep every axis apart. `axes[i]` is the axis of the value in front that
// axis i of `behind` became, or -1 for an axis of extent 1 that a view dropped.
struct Seen {
    graph::ValueId behind = graph::ValueId::none;
    std::vector<int> axes;
};

// Looks from `value`, of known type, through views that transpose axes or add and drop axes of extent 1, and
// returns `value` and all that it sees, the nearest first. A view that splits or joins axes ends the sight.
[[nodiscard]] std::vector<Seen> see_through(const graph::Graph& graph, graph::ValueId value);

// Returns whether two nodes have the same operator, equal attributes and, from input 1 on, the same values or
// equal constants.
[[nodiscard]] bool same_settings(const graph::Graph& graph, const graph::Node& a, const graph::Node& b);

}  // namespace viridian::movement
