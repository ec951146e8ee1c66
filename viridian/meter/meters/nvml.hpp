#pragma once
// Opens the meter `nvml` of NVIDIA GPUs through the library NVML, which is opened at run time. Its channels
// are, for each GPU, total energy (mJ since driver load, Volta and newer), average power (field 185) and
// instantaneous power (field 186), and those of the module and of the memory if the GPU tells them apart.
// Powers have the driver's own stamps. A GPU without any of them is read by the driver's buffer of power
// samples, or else by nvmlDeviceGetPowerUsage. Fields that a GPU does not support are left out. The diagnosis
// says if a GPU is in MIG mode, because its slices have no meters.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// Says whether the meter works here.
[[nodiscard]] Diagnosis probe_nvml(const MeterPaths& paths);
// Opens the meter. Errors: no_device (no library, no driver, no GPU), no_permission, unsupported (no GPU
// reports power).
[[nodiscard]] Result<Meter> open_nvml(const MeterPaths& paths);
// Opens every field of every GPU as a meter of its own ("nvml:average"), so that `characterise` can find out
// what each field really says. Among them are those that `open_nvml` leaves out because they repeat others.
// Errors: those of `open_nvml`.
[[nodiscard]] Result<std::vector<Meter>> open_nvml_fields(const MeterPaths& paths);

}  // namespace viridian::meter
