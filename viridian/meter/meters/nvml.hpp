#pragma once
// The meter of NVIDIA GPUs through NVML, which is opened at run time. Per GPU: total energy (mJ since driver
// load, Volta and newer), average power (field 185) and instantaneous power (field 186), of the module and of
// the memory too if the GPU tells them apart, each with the driver's own stamp; if the driver has no such
// fields, nvmlDeviceGetPowerUsage. Fields that a GPU does not support are left out; a GPU in MIG mode says
// so, because its slices have no meters.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Diagnosis probe_nvml(const MeterPaths& paths);
// Errors: no_device (no library, no driver, no GPU), no_permission, unsupported (no GPU reports power).
[[nodiscard]] Result<Meter> open_nvml(const MeterPaths& paths);
// Every field of every GPU as a meter of its own, "nvml:average": to find out what each really says
// (characterise.hpp). Among them nvmlDeviceGetPowerUsage, which `open_nvml` leaves out.
[[nodiscard]] Result<std::vector<Meter>> open_nvml_fields(const MeterPaths& paths);

}  // namespace viridian::meter
