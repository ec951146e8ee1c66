#pragma once
// A StepTimer times each step of a plan by itself under the conditions of a whole run. It runs the steps one
// after the other, again and again, so that each step runs as long after its last run as it does in the
// plan: its code, its weights and the memory that it writes are as far away from the processor as they are
// there. Its inputs are written anew just before it, because the timing separates it from the step that
// would have made them (docs/profile.md).
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::execute {

// A TimedRun is one run of every step, each timed alone.
struct TimedRun {
    std::vector<double> steps;  // seconds of each of the plan's steps
    bool undisturbed = true;    // meanwhile no thread lost its processor to something else
};

class StepTimer {
  public:
    virtual ~StepTimer() = default;
    // Runs every step once. Errors: those of the kernels.
    [[nodiscard]] virtual Result<TimedRun> run() = 0;
};

}  // namespace viridian::execute
