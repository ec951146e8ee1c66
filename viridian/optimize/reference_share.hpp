#pragma once
// reference_share_note() tells whether a plan spends its time on reference kernels, which are slow and
// exist for every operator and type. A network in f16 or with quantised operators runs on them almost
// entirely, many times slower than in f32.
#include "viridian/optimize/planned.hpp"

namespace viridian::optimize {

// Returns one sentence with the next step if reference kernels take more than 5 % of the time; nothing
// otherwise. `step_seconds` holds the measured time of each step of the plan.
[[nodiscard]] std::optional<std::string> reference_share_note(const PlannedModel& planned,
                                                              const std::vector<double>& step_seconds);

}  // namespace viridian::optimize
