#pragma once
// Tells which nodes of a graph have equal neighbourhoods, so that the rule that gained at one is tried at the
// others first.
#include <cstdint>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::search {

// Returns a hash for each node slot; two are equal if operators, attributes, types and wiring are equal
// within `steps` edges around the node, whatever constants hold (Weisfeiler and Leman's colours). The hash
// of a dead node is zero.
[[nodiscard]] std::vector<std::uint64_t> neighbourhood_hashes(const graph::Graph& graph,
                                                              const graph::Uses& uses, int steps);

}  // namespace viridian::search
