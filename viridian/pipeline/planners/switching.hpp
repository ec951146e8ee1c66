#pragma once
// Plans one clock per unit when clock changes are not free (NVIDIA/nccl#1551): a change holds the device and
// costs energy, and a clock that was set must stay for a minimum time. The first candidate starts from the
// exact plan for free changes: each unit has to end when that plan ends it. Within these windows, dynamic
// programming over (unit, clock) chooses each rank's clocks and keeps a clock if a change does not pay. If no
// shortest stay is asked for, the second candidate is the exact plan rounded to whole clocks
// (`whole_clocks`). The cheaper candidate is then improved in at most eight rounds: new windows are laid
// around it, once as early and once as late as possible, until a round finds no cheaper plan. The optimum for
// free changes is the bound, so such a plan is never called exact.
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {

struct SwitchPrice {
    Nanoseconds latency = 0;  // a change holds the device this long
    Joules energy;            // of one change
    Nanoseconds dwell = 0;    // shortest time for which a clock stays
    [[nodiscard]] bool free() const { return latency == 0 && energy.value == 0 && dwell == 0; }
};

// Returns the planner's answer for `deadline`; 0 asks for the fastest. Errors: those of exact_plan;
// invalid_argument if no plan within the windows meets the deadline.
[[nodiscard]] Result<PlannerAnswer> plan_with_switches(const Network& network, Nanoseconds deadline,
                                                       const SwitchPrice& price);

// Prices the changes of clock in a plan of whole clocks: sets `gap` before every unit whose clock differs
// from that of the unit before it. Returns the number of changes.
std::int64_t price_switches(const Network& network, ClockAssignment& plan, const SwitchPrice& price);

// Does the same with the profile's price of a change. Returns a note if changes are not free but the answer
// has no whole clocks, so that its changes stay without a price; otherwise returns "".
std::string price_switches(const Profile& profile, const Network& network, PlannerAnswer& answer);

}  // namespace viridian::pipeline
