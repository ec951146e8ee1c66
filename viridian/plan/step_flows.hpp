#pragma once
// step_flows() tells which steps of a plan read the outputs of which other steps. A trace of a run carries
// these as its data-flow edges.
#include <utility>
#include <vector>

#include "viridian/plan/plan.hpp"

namespace viridian::plan {

// Returns pairs (writer, reader) of step indices, ascending and without duplicates. A view has no step, so
// that its readers count as readers of the step that wrote the viewed value.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> step_flows(const graph::Graph& graph,
                                                                          const Plan& plan);

}  // namespace viridian::plan
