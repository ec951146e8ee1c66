#pragma once
// A meter that plays a recorded power log as if it were live: time zero of the log is the moment of opening.
// Each read gives every reading that has become due since the last, stamped on today's clock.
#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

[[nodiscard]] Diagnosis probe_replay(const MeterPaths& paths);
// Errors: invalid_argument (no log named), and those of read_power_log.
[[nodiscard]] Result<Meter> open_replay(const MeterPaths& paths);
[[nodiscard]] Meter replay(PowerLog log);

}  // namespace viridian::meter
