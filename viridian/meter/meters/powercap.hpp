#pragma once
// The meter of Linux powercap (Documentation/power/powercap/powercap.rst): RAPL energy counters of Intel and
// AMD CPUs as files. Zones are known by their `name` file, never by their number: package-N[-die-M], core,
// uncore, dram, psys. `intel-rapl-mmio` repeats the package and is left out. Files are readable by root only
// since Linux 5.10.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Diagnosis probe_powercap(const MeterPaths& paths);
// Errors: no_device (no zones), no_permission.
[[nodiscard]] Result<Meter> open_powercap(const MeterPaths& paths);

}  // namespace viridian::meter
