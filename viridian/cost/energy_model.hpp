#pragma once
// Estimates the joules of a kernel if no meter can be read (docs/method.md, 1): static power for the time it
// takes, the power of the cores it keeps busy, and the traffic to main memory. The result is always
// `estimated`. Coefficients are published averages, not this machine's: use it to compare plans on one
// machine, never machines with each other.
#include "viridian/base/energy.hpp"

namespace viridian::cost {

// An InstructionClass says which instructions do most of the work of a kernel.
enum class InstructionClass : std::uint8_t { scalar, vector, wide_vector, matrix };

// Static power is drawn whether or not a core works. An IdlePower says whose it is: `whole` charges the work
// with that of all cores of the machine for as long as it takes, because nothing else would have kept the
// machine on; `share` charges it with that of the cores which it keeps busy, because on a shared machine the
// others work for somebody else meanwhile. Under `share` a kernel that gains little from a second core costs
// less on one; under `whole` finishing early saves more.
enum class IdlePower : std::uint8_t { share, whole };

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
    int machine_cores = 1;  // logical CPUs of the machine
    IdlePower idle = IdlePower::whole;
    double factor = estimate_factor;

    // Returns the energy of work that takes `seconds`, keeps `busy_cores` cores busy on average and moves
    // `dram` bytes from or to main memory.
    [[nodiscard]] Energy estimate(Seconds seconds, double busy_cores, InstructionClass instructions,
                                  Bytes dram) const;
    // Returns the model in which static power is `times` as large and busy power as many times smaller.
    // Nobody knows how the power of this machine divides, and it decides between plans on different numbers
    // of cores.
    [[nodiscard]] EnergyModel with_static_power(double times) const;
};

inline constexpr std::string_view energy_model_name = "cpu-linear";

}  // namespace viridian::cost
