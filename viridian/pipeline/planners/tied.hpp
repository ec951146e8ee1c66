#pragma once
// Plans networks that are too large to solve exactly, by two methods, and keeps the cheaper plan. One shares
// slack out along paths, for all units at once. The other ties the micro-batches of the steady state: it
// solves a pipeline with few micro-batches exactly and repeats its middle; it is left out if that pipeline
// cannot be made or is still too large. Each method gives target durations. The full network is filled with
// them from front to back, as far as the deadline allows, and then takes the slack that is left.
#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

// Plans `network`, which was made from `schedule` and `profile`. A `deadline` of 0 means the shortest
// possible time. The answer's bound is `any_order_bound`. Errors: invalid_argument if the fastest clocks end
// after `deadline`.
[[nodiscard]] Result<PlannerAnswer> plan_tied(const Schedule& schedule, const Profile& profile,
                                              const Network& network, Nanoseconds deadline);

// Returns target durations made by sharing out slack. In each of `rounds` rounds every unit is lengthened by
// its slack × its time / the longest path through it, so that no path ends after `deadline`. Slack that units
// cannot use is shared in the next round.
[[nodiscard]] std::vector<Nanoseconds> share_slack(const Network& network, Nanoseconds deadline, int rounds);

// Returns durations that meet `deadline`. From front to back each unit takes as much of its `target` as the
// units after it, at their fastest, allow.
[[nodiscard]] std::vector<Nanoseconds> fill_forward(const Network& network,
                                                    std::span<const Nanoseconds> target,
                                                    Nanoseconds deadline);

// Lengthens the durations from front to back: each unit takes the slack that its successors, with their
// present durations, leave before `deadline`.
void stretch(const Network& network, std::vector<Nanoseconds>& duration, Nanoseconds deadline);

}  // namespace viridian::pipeline
