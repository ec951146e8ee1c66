#pragma once
// Writes and reads plans (`viridian.pipeline-plan/1`) and writes frontiers (`viridian.pipeline-frontier/1`)
// as JSON (docs/pipeline.md, "Files").
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/pipeline/assignment.hpp"
#include "viridian/pipeline/result.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

[[nodiscard]] Json to_json(const PlanResult& plan);
[[nodiscard]] Json to_json(const FrontierResult& frontier);

// The part of a plan file that is used: the order of units and their clocks. Times and energies are computed
// again from a profile.
struct PlanFile {
    Schedule schedule;
    std::vector<Hertz> clock;           // per unit, rank by rank; 0: not given
    std::vector<Hertz> second_clock;    // 0: one clock
    std::vector<Seconds> second_after;  // time at the first clock
};
// Reads a plan; `name` stands for the file in errors. Errors: malformed, mismatch, limit_exceeded.
[[nodiscard]] Result<PlanFile> plan_from_json(const Json& json, std::string_view name);

// Applies the plan's clocks to a network of the same schedule. A unit without a clock gets the highest.
// Errors: missing_entry if the profile has no such clock.
[[nodiscard]] Result<Assignment> assign_clocks(const PlanFile& plan, const Network& network);

}  // namespace viridian::pipeline
