#pragma once
// An EnergyPricer prices one run of a kernel or of a plan in joules: by a hardware meter if one covers the
// processor, else by a model of power and memory traffic (cost/energy_model.hpp), which the provenance names.
#include <functional>
#include <optional>

#include "viridian/cost/energy_model.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::profile {

// EnergyOptions say where joules come from.
struct EnergyOptions {
    std::string meter;  // name of a meter; "": the best one of the CPU, or the model; "model": the model
    meter::MeterPaths paths = {};
    cost::IdlePower idle = cost::IdlePower::whole;  // of the model; a meter measures the whole package
};

struct EnergyPricer {
    std::optional<meter::Meter> meter;  // a hardware meter; without one, the model prices
    // `packages` are the devices of `meter` that are added up: the processor packages on which the threads
    // may run.
    std::vector<std::string> packages;
    cost::EnergyModel model;
    int threads = 1;

    // Opens the meter that `options` name for the kernels of `device`. Errors: a named meter that cannot be
    // read; missing_entry if the threads may run on a package that the meter does not measure;
    // invalid_argument for a meter with IdlePower::share, because its joules are those of whole packages.
    [[nodiscard]] static Result<EnergyPricer> open(const EnergyOptions& options,
                                                   const execute::Device& device);
    [[nodiscard]] std::string name() const;  // "powercap", "none (estimated:cpu-linear)"
    // Returns the name under which measured joules are stored (cost::Key::meter): "powercap cpu:0", or "" if
    // the model prices.
    [[nodiscard]] std::string key() const;

    // Returns the joules that the model gives a run of `seconds` that moves `dram` bytes from or to memory,
    // on all threads or on `busy` of them on average.
    [[nodiscard]] Energy estimate(Seconds seconds, Bytes dram, std::optional<double> busy = {}) const;
    // Returns the joules that the meter gives one run that takes `timing.median`: the mean power of a window
    // in which nothing but such runs happens, times that time. `repeat` prepares the runs and calls what it
    // is given once, which meters them; they take at least 20 of the meter's updates. There must be a meter.
    // Errors: those of the meter and of `repeat`.
    using Repeat = std::function<Result<void>(Seconds at_least, const execute::Window& window)>;
    [[nodiscard]] Result<Energy> measure(const execute::Timing& timing, const Repeat& repeat) const;
};

}  // namespace viridian::profile
