#include "viridian/profile/energy.hpp"

#include <unistd.h>

#include <algorithm>

#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/packages.hpp"

namespace viridian::profile {
namespace {

bool covers_processor(const meter::Meter& meter) {
    return !meter.name.starts_with("model") &&
           std::any_of(meter.channels.begin(), meter.channels.end(),
                       [](const meter::Channel& channel) { return channel.device.starts_with("cpu"); });
}

Result<std::optional<meter::Meter>> open_meter(const std::string& name, const meter::MeterPaths& paths) {
    if (name == "model") return std::optional<meter::Meter>();
    if (!name.empty()) {
        VIRIDIAN_TRY(meter::Meter meter, meter::open(name, paths));
        return std::optional(std::move(meter));
    }
    VIRIDIAN_TRY(std::vector<meter::Meter> all, meter::open_all(paths));
    for (meter::Meter& meter : all)
        if (covers_processor(meter)) return std::optional(std::move(meter));
    return std::optional<meter::Meter>();
}

}  // namespace

Result<EnergyPricer> EnergyPricer::open(const EnergyOptions& options, const execute::Device& device) {
    EnergyPricer pricer;
    pricer.threads = device.threads();
    pricer.model.machine_cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    pricer.model.idle = options.idle;
    VIRIDIAN_TRY(pricer.meter, open_meter(options.meter, options.paths));
    if (!pricer.meter) return pricer;
    if (options.idle == cost::IdlePower::share)
        return fail(ErrorCode::invalid_argument, "leave out --idle-power, or take the model: --meter model",
                    "the meter `{}` measures whole packages, so idle power cannot be shared",
                    pricer.meter->name);
    VIRIDIAN_TRY(pricer.packages, meter::packages_of(*pricer.meter, device.processors(), options.paths));
    return pricer;
}

std::string EnergyPricer::name() const {
    return meter ? meter->name : fmt::format("none (estimated:{})", cost::energy_model_name);
}

std::string EnergyPricer::key() const {
    return meter ? fmt::format("{} {}", meter->name, fmt::join(packages, " ")) : "";
}

Energy EnergyPricer::estimate(Seconds seconds, Bytes dram, std::optional<double> busy) const {
    return model.estimate(seconds, busy.value_or(threads), cost::InstructionClass::vector, dram);
}

Result<Energy> EnergyPricer::measure(const execute::Timing& timing, const Repeat& repeat) const {
    invariant(meter.has_value(), "joules are measured by a meter");
    Result<meter::Measurement> window =
        fail(ErrorCode::device_failed, "measure again", "the kernel was not repeated");
    VIRIDIAN_TRY(
        repeat(Seconds(std::max(20 * meter->update.value, 0.05)),
               [&](const std::function<void()>& runs) { window = meter::measure(*meter, runs, packages); }));
    if (!window.ok()) return std::move(window).error();
    const double share = timing.median / window->seconds;
    const double spread = timing.median.value > 0 ? (timing.high - timing.low) / timing.median / 2 : 0;
    return Energy{window->energy.value * share, window->energy.low * share * (1 - spread),
                  window->energy.high * share * (1 + spread), window->energy.provenance};
}

}  // namespace viridian::profile
