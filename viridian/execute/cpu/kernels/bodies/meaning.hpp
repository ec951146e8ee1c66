#pragma once
// Spells out what a private operator means, so that kernels for its parts can compute it.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// Returns the body of the region's only node as a graph whose inputs and outputs are those of the region, in
// their order. Nodes of the body that mean a body themselves are spelled out too. Constants that the node
// reads are constants of the graph. Returns nothing if the node has a reference kernel of its own or not
// exactly one body, or if a type in the body is not known.
[[nodiscard]] std::optional<graph::Graph> meaning_of(const Task& task);

}  // namespace viridian::execute::cpu
