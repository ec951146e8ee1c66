#pragma once
// Lists the layers of a plan as JSON rows, for the page's table and graph: its steps, and the operators that
// cost nothing, in execution order.
#include "viridian/optimize/planned.hpp"

namespace viridian::optimize {

// Returns one row per layer. `prices` and `measured` (seconds) are by step of the plan; `measured` is empty
// for a plan that was not run.
[[nodiscard]] Json layers_json(const PlannedModel& planned, const std::vector<cost::Price>& prices,
                               const std::vector<double>& measured);

}  // namespace viridian::optimize
