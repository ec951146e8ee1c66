#pragma once
// A recorded power log played as if it were live: time zero of the log is the moment of opening. Each read
// gives every reading that has become due since the last, stamped on today's clock.
#include "viridian/meter/meter.hpp"
#include "viridian/meter/power_log.hpp"

namespace viridian::meter {

[[nodiscard]] Finding probe_replay(const Places& places);
// Errors: invalid_argument (no log named), and those of read_power_log.
[[nodiscard]] Result<Meter> open_replay(const Places& places);
[[nodiscard]] Meter replay(PowerLog log);

}  // namespace viridian::meter
