#pragma once
// Makes the plain result (result.hpp), which people and files get, from a planner's answer.
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
    Nanoseconds end =
        0;  // when the iteration ends, if a straggler ends later than the plan; 0: with the plan
};
[[nodiscard]] PlanResult make_plan_result(const Planned& planned, const PlannerAnswer& answer);
[[nodiscard]] FrontierResult make_frontier_result(const Planned& planned, const ExactFrontier& frontier);

}  // namespace viridian::pipeline
