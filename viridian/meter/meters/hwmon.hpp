#pragma once
// The meter of Linux hwmon (Documentation/hwmon/sysfs-interface.rst): powerN_average with its interval,
// powerN_input (uW), energyN_input (uJ), of drivers known to mean a whole device: amdgpu, i915, xe (GPUs),
// and power supplies' or boards' sensors are left to the user (their scope is unknown). AMD and Intel GPUs
// are devices "gpu:<n>" in the order of their folders.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Diagnosis probe_hwmon(const MeterPaths& paths);
[[nodiscard]] Result<Meter> open_hwmon(const MeterPaths& paths);  // Errors: no_device, no_permission

}  // namespace viridian::meter
