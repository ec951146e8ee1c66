#pragma once
// Checks whether a schedule can run at all, which needs no profile.
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

// Returns a profile for `schedule` in which every unit takes one second at one clock.
[[nodiscard]] Profile equal_profile(const Schedule& schedule);

// Checks that `schedule` has every unit exactly once, keeps forward and backward of a micro-batch and stage
// on one rank, and does not deadlock. Errors: those of make_network.
[[nodiscard]] Result<void> check_runnable(const Schedule& schedule);

}  // namespace viridian::pipeline
