#pragma once
// Reads meters as fast as they answer and keeps the moments when a value changed, for `characterise`.
#include <functional>

#include "viridian/meter/characterise/probe_log.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct ProbeOptions {
    Seconds duration{60};
    Seconds pause{0.0005};       // between rounds, so that the machine stays usable
    std::function<bool()> stop;  // is asked between rounds; true ends the probe; may be empty
};

// Reads `meters` in rounds, each meter once a round, and times each read. Returns the moments when values
// changed. Errors: no_device (no meters); if no meter ever answered, the first error of reading. Single
// failures are passed over.
[[nodiscard]] Result<ProbeLog> probe(const std::vector<Meter>& meters, const ProbeOptions& options);

}  // namespace viridian::meter
