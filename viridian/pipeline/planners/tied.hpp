#pragma once
// Plans networks that are too large to solve exactly. The micro-batches of the steady state are tied: a
// pipeline with few micro-batches is solved exactly, and its middle is repeated. If even that is too large,
// slack is shared out along paths, for all units at once. In both cases the result is a target: the full
// network is filled from front to back, no unit later than the deadline allows, and evaluated exactly.
#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

// `deadline` 0: the fastest. The bound is that of any order. Errors: invalid_argument below the fastest time.
[[nodiscard]] Result<PlannerAnswer> plan_tied(const Schedule& schedule, const Profile& profile,
                                              const Network& network, Nanoseconds deadline);

// Targets by sharing slack: in each round every unit takes its part, slack × own time / longest path through
// it, so no path can overrun; what units cannot use goes to the next round.
[[nodiscard]] std::vector<Nanoseconds> share_slack(const Network& network, Nanoseconds deadline, int rounds);

// Front to back: each unit takes its target if the units after it, at their fastest, still meet the deadline.
[[nodiscard]] std::vector<Nanoseconds> fill_forward(const Network& network,
                                                    std::span<const Nanoseconds> target,
                                                    Nanoseconds deadline);

// Front to back once more: each unit takes what slack its successors, as they now are, leave it.
void stretch(const Network& network, std::vector<Nanoseconds>& duration, Nanoseconds deadline);

}  // namespace viridian::pipeline
