#pragma once
// Makes the plain results of result.hpp, which people and files get, from a planner's answer or a frontier.
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/result.hpp"

namespace viridian::pipeline {

// A pipeline and the name of the planner that planned it.
struct Planned {
    const Schedule& schedule;
    const Profile& profile;
    const Network& network;
    std::string planner;
    // Time at which the iteration ends if a straggler ends after the plan; 0: it ends with the plan.
    Nanoseconds end = 0;
};
// Return the result of the plan `answer`, which is simulated for it, and of the whole `frontier`.
[[nodiscard]] PlanResult make_plan_result(const Planned& planned, const PlannerAnswer& answer);
// Adds to `plan` the joules of its changes of clock, if `profile` has a price for them.
void add_switch_energy(const Profile& profile, PlanResult& plan);
[[nodiscard]] FrontierResult make_frontier_result(const Planned& planned, const ExactFrontier& frontier);

}  // namespace viridian::pipeline
