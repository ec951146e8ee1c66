#pragma once
// Adds what was metered to the answer of `viridian train`.
#include "viridian/cli/command.hpp"
#include "viridian/cli/train/run_meter.hpp"
#include "viridian/train/log/curve.hpp"
#include "viridian/train/loop/train.hpp"

namespace viridian::cli {

// Returns "  12.3 J" for the line of an epoch; empty if its energy is not known.
[[nodiscard]] std::string joules_text(const std::optional<Energy>& energy);

// Adds the joules of epochs (to `answer.json["epochs"]`, which lists those of `result`), of a step and of its
// layers, and the curves.
void add_energy(const RunMeter& meter, const train::TrainResult& result, const train::Curve& curve,
                Answer& answer);

}  // namespace viridian::cli
