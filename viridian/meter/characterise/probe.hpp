#pragma once
// Reads meters as fast as they answer and keeps the moments when a value changed, for `characterise`.
#include <functional>

#include "viridian/meter/characterise/probe_log.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::meter {

struct ProbeOptions {
    Seconds duration{60};
    Seconds pause{0.0005};  // between rounds, so that the machine stays usable
    std::function<bool()> stop;
};

// One round reads each meter once, timed apart. Errors: no_device (no meters), and those of reading if a
// meter never answered; single failures are passed over.
[[nodiscard]] Result<ProbeLog> probe(const std::vector<Meter>& meters, const ProbeOptions& options);

}  // namespace viridian::meter
