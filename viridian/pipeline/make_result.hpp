#pragma once
// From a planner's answer to what people read.
#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/result.hpp"

namespace viridian::pipeline {

struct Planned {
    const Schedule& schedule;
    const Profile& profile;
    const Network& network;
    std::string planner;
    Nanoseconds end = 0;  // of the iteration, where a straggler ends later than the plan
};
[[nodiscard]] PlanResult make_plan_result(const Planned& planned, const PlannerAnswer& answer);
[[nodiscard]] FrontierResult make_frontier_result(const Planned& planned, const ExactFrontier& frontier);

}  // namespace viridian::pipeline
