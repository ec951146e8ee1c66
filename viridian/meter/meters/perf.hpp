#pragma once
// The meter of RAPL through perf events (arch/x86/events/rapl.c): power/energy-{pkg,ram,cores,gpu,psys}/, one
// counter per package, opened on the CPU that the kernel names in `cpumask`. It counts in units of `scale`
// joules (2^-32); the kernel undoes the hardware's wraps. Needs perf_event_paranoid <= 0 or CAP_PERFMON.
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Diagnosis probe_perf(const MeterPaths& paths);
[[nodiscard]] Result<Meter> open_perf(const MeterPaths& paths);  // Errors: no_device, no_permission

}  // namespace viridian::meter
