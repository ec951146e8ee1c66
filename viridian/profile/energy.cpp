#include "viridian/profile/energy.hpp"

#include <algorithm>

#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::profile {
namespace {

bool covers_processor(const meter::Meter& meter) {
    return !meter.name.starts_with("model") &&
           std::any_of(meter.channels.begin(), meter.channels.end(),
                       [](const meter::Channel& channel) { return channel.device.starts_with("cpu"); });
}

}  // namespace

Result<EnergyPricer> EnergyPricer::open(const std::string& wanted, int threads) {
    EnergyPricer pricer;
    pricer.threads = threads;
    pricer.model.machine_cores = threads;
    if (wanted == "model") return pricer;
    if (!wanted.empty()) {
        VIRIDIAN_TRY(pricer.meter, meter::open(wanted));
        return pricer;
    }
    VIRIDIAN_TRY(std::vector<meter::Meter> all, meter::open_all());
    for (meter::Meter& meter : all)
        if (covers_processor(meter)) {
            pricer.meter = std::move(meter);
            break;
        }
    return pricer;
}

std::string EnergyPricer::name() const {
    return meter ? meter->name : fmt::format("none (estimated:{})", cost::energy_model_name);
}

Result<Energy> EnergyPricer::price(const execute::Timing& timing, Bytes dram,
                                   const std::function<Result<void>(Seconds)>& repeat) const {
    if (!meter) return model.estimate(timing.median, threads, cost::InstructionClass::vector, dram);
    Result<void> done;
    const Seconds budget(std::max(20 * meter->update.value, 0.05));
    VIRIDIAN_TRY(const meter::Measurement window,
                 meter::measure(*meter, [&] { done = repeat(budget); }, "cpu:0"));
    VIRIDIAN_TRY(std::move(done));
    const double share = timing.median / window.seconds;
    const double spread = timing.median.value > 0 ? (timing.high - timing.low) / timing.median / 2 : 0;
    return Energy{window.energy.value * share, window.energy.low * share * (1 - spread),
                  window.energy.high * share * (1 + spread), window.energy.provenance};
}

}  // namespace viridian::profile
