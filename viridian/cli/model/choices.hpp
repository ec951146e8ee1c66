#pragma once
// Lists every kernel that the device has for every region of a graph, with its formats and what it costs.
#include "viridian/cli/command.hpp"
#include "viridian/cost/source.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::cli {

// Returns a JSON array of the regions that a kernel computes, in topological order, each with its kernels in
// the order in which the device offers them; and a text with a line for each region. Errors: those of
// `source`.
[[nodiscard]] Result<Answer> choices(const graph::Graph& graph, const cost::PriceSource& source);

}  // namespace viridian::cli
