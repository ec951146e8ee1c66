#pragma once
// Lists the layers of a plan as JSON rows, for the page's table and graph: its steps, and the operators that
// cost nothing, in execution order.
#include "viridian/optimize/planned.hpp"

namespace viridian::optimize {

// Returns one row per layer, with the price that the solver chose it by. `measured` holds what its step took
// alone and in recorded runs; null for a plan that was not run.
[[nodiscard]] Json layers_json(const PlannedModel& planned, const Measurement* measured);

}  // namespace viridian::optimize
