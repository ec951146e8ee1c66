#pragma once
// A meter for machines without a hardware meter: it estimates watts = static + watts per busy core x busy
// cores, from the kernel's CPU times
// (/proc/stat, 10 ms steps). Its
// channels are running counters in microjoules, one per package, always `estimated`.
// Defaults: 0.74 W idle and 3.5 W busy per logical CPU, the server averages that Cloud Carbon Footprint
// derives from SPECpower_ssj2008 for its CPU-time method (Methodology, "Energy Estimate (Watt-Hours)", AWS
// row). The prices of kernels are not made here but in cost/energy_model.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

inline constexpr double default_static_watts_per_cpu = 0.74;
inline constexpr double default_busy_watts_per_cpu = 3.5 - 0.74;
inline constexpr std::string_view model_name = "model-cpu-linear";

[[nodiscard]] Diagnosis probe_model(const MeterPaths& paths);
// Errors: file_unreadable (no /proc/stat).
[[nodiscard]] Result<Meter> open_model(const MeterPaths& paths);

}  // namespace viridian::meter
