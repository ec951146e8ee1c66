#pragma once
// This planner chooses one clock per unit when clock changes are not free (NVIDIA/nccl#1551): a change holds
// the device, costs energy, and a clock once set stays for a while. It starts from the exact plan without
// prices: each unit has to end when that plan ends it, and inside these windows each rank's clocks are chosen
// by dynamic programming over (unit, clock), which merges runs if a change does not pay. If no shortest stay
// is asked for, the exact plan rounded to whole clocks (`whole_clocks`) is the second candidate. The cheaper
// one is then improved: new windows are laid around it, once as early and once as late as possible, until no
// rank finds a cheaper plan. The relaxation without prices is the bound, so such a plan is never called
// exact.
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {

struct SwitchPrice {
    Nanoseconds latency = 0;
    Joules energy;
    Nanoseconds dwell = 0;
    [[nodiscard]] bool free() const { return latency == 0 && energy.value == 0 && dwell == 0; }
};

// Errors: invalid_argument when no plan within the windows meets the deadline.
[[nodiscard]] Result<PlannerAnswer> plan_with_switches(const Network& network, Nanoseconds deadline,
                                                       const SwitchPrice& price);

// What the changes of any whole-clock plan cost: sets `gap` before every unit whose clock differs from the
// last one. Returns the number of changes.
std::int64_t price_switches(const Network& network, Assignment& plan, const SwitchPrice& price);

}  // namespace viridian::pipeline
