#pragma once
// Two pictures of pipeline results, as standalone SVG: a plan's schedule (time × rank, coloured by clock,
// bubbles and critical path visible) and a time-energy frontier with other planners beside it.
#include <string>

#include "viridian/base/json.hpp"

namespace viridian::report {

// From a `viridian.pipeline-plan/1` with times. Errors: malformed; limit_exceeded above 40,000 units.
[[nodiscard]] Result<std::string> schedule_picture(const Json& plan);
// From anything with `frontier[{time,energy}]` and optionally `beyond` and `planners`. Errors: malformed.
[[nodiscard]] Result<std::string> frontier_picture(const Json& frontier);

}  // namespace viridian::report
