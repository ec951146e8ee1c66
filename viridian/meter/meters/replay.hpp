#pragma once
// Opens the meter `replay`, which plays a recorded power log as if it were live. The log's first reading is
// due at the moment of opening. Each read returns the readings that became due since the last read, with the
// stamps of today's clock.
#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

// Says whether a log is named in `paths` and can be read.
[[nodiscard]] Diagnosis probe_replay(const MeterPaths& paths);
// Opens the log that `paths` names. Errors: invalid_argument (no log named), and those of read_power_log.
[[nodiscard]] Result<Meter> open_replay(const MeterPaths& paths);
// Returns a meter that plays `log` from now on.
[[nodiscard]] Meter replay(PowerLog log);

}  // namespace viridian::meter
