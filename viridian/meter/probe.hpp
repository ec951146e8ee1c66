#pragma once
// Reads meters as fast as they answer and keeps the moments when a value changed: what `characterise` needs.
#include <functional>

#include "viridian/meter/meter.hpp"
#include "viridian/meter/probe_log.hpp"

namespace viridian::meter {

struct ProbeOptions {
    Seconds duration{60};
    Seconds pause{0.0005};  // between rounds, so that the machine stays usable
    std::function<bool()> stop;
};

// One round reads each meter once, timed apart. Errors: no_device (no meters), and what reading says where a
// meter answered never; single failures are passed over.
[[nodiscard]] Result<ProbeLog> probe(const std::vector<Meter>& meters, const ProbeOptions& options);

}  // namespace viridian::meter
