#pragma once
// Reads the parts of an event that all formats in Chrome's layout share (Trace Event Format, the Chromium
// project): its phase and its times in microseconds, and the series of a counter event.
#include <optional>
#include <vector>

#include "viridian/trace/join/raw.hpp"
#include "viridian/trace/join/trace_tables.hpp"

namespace viridian::trace {

// Returns a raw event with the phase and the times of `event`. Returns nothing for metadata, which `tables`
// keeps, for phases that carry no work, and for times that cannot be read, which `tables` counts.
[[nodiscard]] std::optional<Raw> raw_of(const JsonEvent& event, TraceTables& tables);

// Returns the series of the counter `event`, one raw event each, at the time of `raw`.
[[nodiscard]] std::vector<Raw> counters_of(const JsonEvent& event, Raw raw, TraceTables& tables);

}  // namespace viridian::trace
