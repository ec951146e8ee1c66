#pragma once
// Finds the paths at which the commands look for meters. Environment variables override the usual places of
// this machine:
//     VIRIDIAN_NVML=/path/libnvidia-ml.so.1    the library or log of the meter with that name
//     VIRIDIAN_REPLAY=power.csv                (VIRIDIAN_ and the meter's name in capitals)
//     VIRIDIAN_ROOT=/host                      a folder that holds sysfs and procfs (a container's host)
#include "viridian/meter/meter.hpp"

namespace viridian::cli {

// Returns the paths. Reads the environment.
[[nodiscard]] meter::MeterPaths meter_paths();

}  // namespace viridian::cli
