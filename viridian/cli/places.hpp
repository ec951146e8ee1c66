#pragma once
// Where this command line looks for meters: the machine's own places, but for what the environment names.
//     VIRIDIAN_NVML=/path/libnvidia-ml.so.1    the NVML library to open
//     VIRIDIAN_REPLAY=power.csv                the log that the meter `replay` plays
#include "viridian/meter/meter.hpp"

namespace viridian::cli {

[[nodiscard]] meter::Places places();

}  // namespace viridian::cli
