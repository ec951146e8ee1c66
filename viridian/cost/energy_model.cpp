#include "viridian/cost/energy_model.hpp"

#include <algorithm>

namespace viridian::cost {

Energy EnergyModel::estimate(Seconds seconds, double busy_cores, InstructionClass instructions,
                             Bytes dram) const {
    const double answered_for =
        idle == IdlePower::whole ? std::max<double>(machine_cores, busy_cores) : busy_cores;
    const Watts power =
        static_per_core * answered_for + busy_per_core[static_cast<std::size_t>(instructions)] * busy_cores;
    const Joules value = power * seconds + per_dram_byte * static_cast<double>(dram.value);
    return {
        value, value / factor, value * factor, {Provenance::Kind::estimated, std::string(energy_model_name)}};
}

EnergyModel EnergyModel::with_static_power(double times) const {
    EnergyModel other = *this;
    other.static_per_core = static_per_core * times;
    for (Watts& busy : other.busy_per_core) busy = busy * (1 / times);
    return other;
}

}  // namespace viridian::cost
