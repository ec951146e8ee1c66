#pragma once
// An EnergyPricer prices one run of a kernel in joules: by a hardware meter if one covers the processor,
// else by a model of power and memory traffic (cost/energy_model.hpp), which the provenance names.
#include <optional>

#include "viridian/cost/energy_model.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::profile {

struct EnergyPricer {
    std::optional<meter::Meter> meter;  // a hardware meter; without one, the model prices
    cost::EnergyModel model;
    int threads = 1;

    // Opens the meter `name` for kernels on `threads` threads. An empty name chooses the best meter of the
    // CPU, or the model if there is none; "model" chooses the model. Errors: a named meter that cannot be
    // read.
    [[nodiscard]] static Result<EnergyPricer> open(const std::string& name, int threads);
    [[nodiscard]] std::string name() const;  // "powercap", "none (estimated:cpu-linear)"

    // Returns the joules of one run that takes `timing.median` and reads `dram` bytes of memory. With a
    // meter, `repeat(budget)` runs the kernel for at least 20 of the meter's updates, and one run is charged
    // the mean power of that window. Errors: those of the meter and of `repeat`.
    [[nodiscard]] Result<Energy> price(const execute::Timing& timing, Bytes dram,
                                       const std::function<Result<void>(Seconds budget)>& repeat) const;
};

}  // namespace viridian::profile
