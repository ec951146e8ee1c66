#pragma once
// Places of a graph that look alike, so that what pays at one is tried at the others first.
#include <cstdint>
#include <vector>

#include "viridian/graph/graph.hpp"

namespace viridian::search {

// By node slot: equal where operators, attributes, types and wiring are equal within `steps` around the node,
// contents of constants apart (Weisfeiler and Leman's colours). Zero for dead nodes.
[[nodiscard]] std::vector<std::uint64_t> surroundings(const graph::Graph& graph, const graph::Uses& uses,
                                                      int steps);

}  // namespace viridian::search
