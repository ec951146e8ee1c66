#pragma once
// The meter of AMD GPUs through AMD SMI (ROCm 6 and newer), which is opened at run time: per GPU the energy
// accumulator, in counts of `counter_resolution` microjoules (amdsmi_get_energy_count; 15.3 uJ on Instinct).
// Devices are `cuda:<n>`, as PyTorch's traces call them on ROCm. Powers are not taken from here: the layout
// of amdsmi_power_info_t has changed from release to release without a number that tells which it is; hwmon
// has the same power in files.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Diagnosis probe_amdsmi(const MeterPaths& paths);
// Errors: no_device (no library, no driver, no GPU), no_permission, unsupported (no GPU has a counter).
[[nodiscard]] Result<Meter> open_amdsmi(const MeterPaths& paths);

}  // namespace viridian::meter
