#pragma once
// Plans and frontiers as JSON (docs/pipeline.md, "Files"): `viridian.pipeline-plan/1`,
// `viridian.pipeline-frontier/1`.
#include "viridian/base/json.hpp"
#include "viridian/pipeline/assignment.hpp"
#include "viridian/pipeline/result.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

[[nodiscard]] Json to_json(const PlanResult& plan);
[[nodiscard]] Json to_json(const FrontierResult& frontier);

// What a plan file says to do: the order and the clocks. Times and energies are recomputed from a profile,
// never believed. Errors: malformed, mismatch, limit_exceeded.
struct PlanFile {
    Schedule schedule;
    std::vector<Hertz> clock;           // per unit, rank by rank; 0: not given
    std::vector<Hertz> second_clock;    // 0: one clock
    std::vector<Seconds> second_after;  // time at the first clock
};
[[nodiscard]] Result<PlanFile> plan_from_json(const Json& json, std::string_view name);

// The plan's clocks on a network of the same schedule; a clock that is not given is the highest.
// Errors: missing_entry when the profile has no such clock.
[[nodiscard]] Result<Assignment> assign_clocks(const PlanFile& plan, const Network& network);

}  // namespace viridian::pipeline
