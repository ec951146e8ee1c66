#pragma once
// Joules of one run of a kernel: from a hardware meter where one covers the processor, from the declared
// model else.
#include <optional>

#include "viridian/cost/energy_model.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::profile {

struct EnergyPricer {
    std::optional<meter::Meter> meter;  // a hardware meter, or none
    cost::EnergyModel model;
    int threads = 1;

    // The best meter of the CPU, or the model. `name` "" chooses; a named meter that cannot be read is an
    // error.
    [[nodiscard]] static Result<EnergyPricer> open(const std::string& name, int threads);
    [[nodiscard]] std::string name() const;  // "powercap", "none (estimated:cpu-linear)"

    // Joules of one run that takes `timing.median`. With a meter, `repeat(budget)` is run for at least 20 of
    // its updates and the mean power of that window is charged for the time of one run.
    [[nodiscard]] Result<Energy> price(const execute::Timing& timing, Bytes dram,
                                       const std::function<Result<void>(Seconds budget)>& repeat) const;
};

}  // namespace viridian::profile
