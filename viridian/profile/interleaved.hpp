#pragma once
// Times whole runs of plans and, interleaved with them, each of their steps alone. The sum of a plan's
// steps can be compared with its run only if both met the machine in the same state (docs/profile.md).
#include "viridian/plan/plan.hpp"
#include "viridian/profile/measure_runs.hpp"

namespace viridian::profile {

// An InterleavedPlan is a plan to be timed, on its graph.
struct InterleavedPlan {
    const graph::Graph* graph;
    const plan::Plan* plan;
    Subject subject;  // the plan's executable
};

// An InterleavedProtocol says how long plans and steps are timed.
struct InterleavedProtocol {
    RunProtocol runs;
    int steps_every = 1;  // steps are timed in the first of every `steps_every` rounds
    // The core-to-core latency of the machine for which the runs were predicted. Runs at another one do not
    // count if there are enough at this one. Zero: that which is met most counts.
    Seconds latency{};
};

// An InterleavedResult holds the times of one plan.
struct InterleavedResult {
    Summary ran;                            // seconds of whole runs
    double lost = 0;                        // share of their time that other processes took
    std::vector<Seconds> steps;             // of each of the plan's steps, timed alone
    Seconds latency{};                      // core to core, at which these were timed; zero if not known
    [[nodiscard]] Seconds kernels() const;  // their sum
};

// Returns the times of each of `plans`. In each round every plan runs for one time slice; then its steps
// are timed alone (execute/step_timer.hpp) for as long. The core-to-core latency is measured around each of
// these. Times at an unusual latency are left out, and rounds go on, up to three times as many, until
// everything was timed at the usual one in a third of them. The usual latency is that of the protocol; if
// rounds end without enough times at it, or if it is zero, it is the median of those that were met. The time
// of a step is its mean over the middle half of the passes that remain, sorted by their sums. Errors: those
// of running and timing.
[[nodiscard]] Result<std::vector<InterleavedResult>> measure_interleaved(execute::Device& device,
                                                                         std::vector<InterleavedPlan>& plans,
                                                                         const InterleavedProtocol& protocol);

}  // namespace viridian::profile
