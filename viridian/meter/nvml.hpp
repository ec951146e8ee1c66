#pragma once
// NVIDIA GPUs through NVML, opened at run time. Per GPU: total energy (mJ since driver load, Volta and
// newer), average power (field 185) and instantaneous power (field 186), each with the driver's own stamp;
// where the driver has no such fields, nvmlDeviceGetPowerUsage. What a GPU does not support is left out; a
// GPU in MIG mode says so, since its slices have no meters. The energy counter of field 83 covers the scope
// 0: the GPU.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Finding probe_nvml(const Places& places);
// Errors: no_device (no library, no driver, no GPU), no_permission, unsupported (no GPU reports power).
[[nodiscard]] Result<Meter> open_nvml(const Places& places);

}  // namespace viridian::meter
