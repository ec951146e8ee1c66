#pragma once
// Estimates the joules of a kernel if no meter can be read (docs/method.md, 1): static power for the time it
// takes, the power of the cores it keeps busy, and the traffic to main memory. The result is always
// `estimated`. Coefficients are published averages, not this machine's: use it to compare plans on one
// machine, never machines with each other.
#include "viridian/base/energy.hpp"

namespace viridian::cost {

// An InstructionClass says which instructions do most of the work of a kernel.
enum class InstructionClass : std::uint8_t { scalar, vector, wide_vector, matrix };

// The coefficients of an EnergyModel are published averages, with their sources.
struct EnergyModel {
    // 0.74 W idle and 3.5 W busy per logical CPU are server averages from SPECpower_ssj2008 (Cloud Carbon
    // Footprint, Methodology, "Energy Estimate (Watt-Hours)"). They are the same for every instruction
    // class until a source tells them apart.
    Watts static_per_core{0.74};
    Watts busy_per_core[4] = {Watts(2.76), Watts(2.76), Watts(2.76), Watts(2.76)};
    // `per_dram_byte` is the middle of 1.3 to 2.6 nJ per 64 bits of DRAM (Horowitz, "Computing's energy
    // problem", ISSCC 2014, figure 1.1.9).
    Joules per_dram_byte{1.95e-9 / 8};
    int machine_cores = 1;  // cores given to the process, whose static power the work answers for
    double factor = 2;      // the interval reaches from value / factor to value × factor

    // Returns the energy of work that takes `seconds`, keeps `busy_cores` cores busy and moves `dram` bytes
    // from or to main memory.
    [[nodiscard]] Energy estimate(Seconds seconds, int busy_cores, InstructionClass instructions,
                                  Bytes dram) const;
};

inline constexpr std::string_view energy_model_name = "cpu-linear";

}  // namespace viridian::cost
