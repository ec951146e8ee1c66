#pragma once
// Times the steps of a plan one after the other, round and round. Each step then runs as long after its last
// run as in a run of the plan, so its code, its weights and the memory that it writes are as far away as they
// are there. Its inputs are written anew just before it, because the step before did not make them
// (docs/profile.md).
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::execute {

// One run of every step, each timed alone.
struct Pass {
    std::vector<double> steps;  // seconds of each of the plan's steps
    bool undisturbed = true;    // meanwhile no thread lost its processor to something else
};

class StepTimer {
  public:
    virtual ~StepTimer() = default;
    // Runs every step once. Errors: those of the kernels.
    [[nodiscard]] virtual Result<Pass> pass() = 0;
};

}  // namespace viridian::execute
