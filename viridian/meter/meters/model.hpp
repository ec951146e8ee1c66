#pragma once
// Opens the meter `model`, which estimates the energy of a CPU package on machines without a hardware meter.
// Its power model is
//
//     watts = 0.74 × logical CPUs + (3.5 - 0.74) × busy logical CPUs
//
// The busy CPUs come from the kernel's CPU times (/proc/stat, 10 ms steps). The two constants are the idle
// and the busy power of a logical CPU, server averages that Cloud Carbon Footprint derives from
// SPECpower_ssj2008 for its CPU-time method (Methodology, "Energy Estimate (Watt-Hours)", AWS row). The
// channels are running counters in microjoules, one per package, and every number is marked `estimated`. The
// energy prices of kernels come from another model (cost/energy_model.hpp).
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

inline constexpr double default_static_watts_per_cpu = 0.74;      // idle or busy
inline constexpr double default_busy_watts_per_cpu = 3.5 - 0.74;  // more while it is busy
inline constexpr std::string_view model_name = "model-cpu-linear";

// Says whether the model works here.
[[nodiscard]] Diagnosis probe_model(const MeterPaths& paths);
// Opens the meter. Errors: file_not_found (no /proc/stat), no_permission, file_unreadable, malformed.
[[nodiscard]] Result<Meter> open_model(const MeterPaths& paths);

}  // namespace viridian::meter
