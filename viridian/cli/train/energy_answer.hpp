#pragma once
// Adds what was metered to the answer of `viridian train`.
#include "viridian/cli/command.hpp"
#include "viridian/cli/train/run_meter.hpp"
#include "viridian/train/log/curve.hpp"

namespace viridian::cli {

// Returns "  steps 12.3 J [6.10 J, 24.7 J] estimated" for the line of an epoch; empty if its energy is not
// known.
[[nodiscard]] std::string joules_text(const ActivityJoules& epoch);

// Returns the fields of an epoch: joules, evaluation_joules and checkpoint_joules, null if they are not
// known.
[[nodiscard]] Json to_json(const ActivityJoules& epoch);

// Adds the joules of the run, of a step and of its layers, and the curves.
void add_energy(const RunMeter& meter, const train::Curve& curve, Answer& answer);

}  // namespace viridian::cli
