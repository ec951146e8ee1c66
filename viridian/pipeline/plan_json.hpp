#pragma once
// Writes and reads plans (`viridian.pipeline-plan/1`) and writes frontiers (`viridian.pipeline-frontier/1`)
// as JSON (docs/pipeline.md, "Files").
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/pipeline/assignment.hpp"
#include "viridian/pipeline/result.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

// Return the documents of a plan and of a frontier.
[[nodiscard]] Json to_json(const PlanResult& plan);
[[nodiscard]] Json to_json(const FrontierResult& frontier);

// PlanFile is the part of a plan file that is used: the order of units and their clocks. Times and energies
// are computed again from a profile.
struct PlanFile {
    Schedule schedule;
    std::vector<Hertz> clock;           // per unit, rank by rank; 0: not given
    std::vector<Hertz> second_clock;    // per unit; 0: it keeps its first clock
    std::vector<Seconds> second_after;  // per unit: time at the first clock
};
// Reads a plan; `name` stands for the file in errors. Errors: malformed, mismatch (another schema).
[[nodiscard]] Result<PlanFile> plan_from_json(const Json& json, std::string_view name);

// Applies the clocks of `plan` to the network of the same schedule. A unit for which the plan gives no clock
// gets the highest.
// Errors: missing_entry if the profile has no such clock.
[[nodiscard]] Result<ClockAssignment> assign_clocks(const PlanFile& plan, const Network& network);

}  // namespace viridian::pipeline
