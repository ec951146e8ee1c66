#pragma once
// Whole runs of plans and times of their steps one by one, turn by turn in one spell of the machine: whether
// sums of steps predict runs is asked where both met the same machine (docs/profile.md).
#include "viridian/plan/plan.hpp"
#include "viridian/profile/measure_runs.hpp"

namespace viridian::profile {

struct SpellPlan {
    const graph::Graph* graph;
    const plan::Plan* plan;
    Contestant contestant;  // its executable
};

struct SpellProtocol {
    RunProtocol runs;
    int steps_every = 1;  // steps are timed in the first of so many rounds
};

struct SpellResult {
    Summary ran;                 // whole runs
    std::vector<Seconds> steps;  // of the plan, each timed by itself: means over the middle half of rotations
    [[nodiscard]] Seconds predicted() const;
};

// In each round every plan runs for a turn; then its steps are timed by themselves, in rotation
// (execute/in_turn.hpp), for as long. Around each of these the distance of the device's threads is taken
// (Device::hand_over); what was timed at other than the usual distance is left out, and rounds go on, up to
// three times as many, until everything has been timed at it in a third of them. Of the rotations that
// remain, the half whose sums are in the middle count. Errors: those of running and timing.
[[nodiscard]] Result<std::vector<SpellResult>> measure_in_one_spell(execute::Device& device,
                                                                    std::vector<SpellPlan>& plans,
                                                                    const SpellProtocol& protocol);

}  // namespace viridian::profile
