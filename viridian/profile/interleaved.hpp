#pragma once
// Times whole runs of plans and, interleaved with them, each of their steps alone. Whether the sum of a
// plan's steps predicts its run can only be asked if both met the machine in the same state
// (docs/profile.md).
#include "viridian/plan/plan.hpp"
#include "viridian/profile/measure_runs.hpp"

namespace viridian::profile {

struct InterleavedPlan {
    const graph::Graph* graph;
    const plan::Plan* plan;
    Subject subject;  // the plan's executable
};

struct InterleavedProtocol {
    RunProtocol runs;
    int steps_every = 1;  // steps are timed in the first of so many rounds
};

struct InterleavedResult {
    Summary ran;                              // seconds of whole runs
    std::vector<Seconds> steps;               // of each of the plan's steps, timed alone
    [[nodiscard]] Seconds predicted() const;  // their sum
};

// In each round every plan runs for one time slice; then its steps are timed alone (execute/step_timer.hpp)
// for as long. The core-to-core latency is measured around each of these. What was timed at an unusual
// latency is left out, and rounds go on, up to three times as many, until everything was timed at the usual
// one in a third of them. A step's time is its mean over the middle half of the passes that remain, sorted by
// their sums. Errors: those of running and timing.
[[nodiscard]] Result<std::vector<InterleavedResult>> measure_interleaved(execute::Device& device,
                                                                         std::vector<InterleavedPlan>& plans,
                                                                         const InterleavedProtocol& protocol);

}  // namespace viridian::profile
