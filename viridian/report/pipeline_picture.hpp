#pragma once
// Draws pipeline results as standalone SVG: the schedule of a plan (time × rank, coloured by clock, with
// bubbles and critical path) and the time-energy frontier with the plans of other planners.
#include <string>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"

namespace viridian::report {

// Returns the picture of `plan`, a document of the schema `viridian.pipeline-plan/1` with times. Errors:
// malformed; limit_exceeded above 40,000 units.
[[nodiscard]] Result<std::string> schedule_picture(const Json& plan);
// Returns the picture of `frontier`, any object with `frontier[{time,energy}]` and optionally `beyond` and
// `planners`. Errors: malformed.
[[nodiscard]] Result<std::string> frontier_picture(const Json& frontier);

}  // namespace viridian::report
