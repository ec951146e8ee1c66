#pragma once
// NVIDIA GPUs through NVML, opened at run time. Per GPU: total energy (mJ since driver load, Volta and
// newer), average power (field 185) and instantaneous power (field 186), of the module and of the memory too
// where the GPU tells them apart, each with the driver's own stamp; where the driver has no such fields,
// nvmlDeviceGetPowerUsage. What a GPU does not support is left out; a GPU in MIG mode says so, since its
// slices have no meters.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Finding probe_nvml(const Places& places);
// Errors: no_device (no library, no driver, no GPU), no_permission, unsupported (no GPU reports power).
[[nodiscard]] Result<Meter> open_nvml(const Places& places);
// Every field of every GPU as a meter of its own, "nvml:average": to find out what each really says
// (characterise.hpp). Among them nvmlDeviceGetPowerUsage, which `open_nvml` leaves out.
[[nodiscard]] Result<std::vector<Meter>> open_nvml_fields(const Places& places);

}  // namespace viridian::meter
