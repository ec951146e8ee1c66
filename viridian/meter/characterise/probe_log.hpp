#pragma once
// ProbeLog is the record of a meter that was read as fast as it answers. It holds only the moments when a
// value changed, each with the times of the two readings around it, and the time that a read took. Its file
// is CSV `seen_ns,not_before_ns,stamp_ns,field,value` (docs/meter.md).
#include <span>

#include "viridian/base/file.hpp"
#include "viridian/meter/sample.hpp"

namespace viridian::meter {

struct ProbeReading {
    std::int64_t seen_ns = 0;        // Unix time just after the reading that showed the new value
    std::int64_t not_before_ns = 0;  // just before the reading that still showed the old one
    std::int64_t stamp_ns = 0;       // the meter's own stamp
    std::int64_t value = 0;          // microjoules or microwatts
    bool operator==(const ProbeReading&) const = default;
};

struct ProbeField {
    Channel channel;  // its meter names the field: "nvml:average"
    std::uint64_t reads = 0;
    std::uint64_t stamps = 0;  // different stamps seen
    std::int64_t cost_ns = 0;  // median time of one read
    std::int64_t cost_p99_ns = 0;
    std::vector<ProbeReading> readings;  // by time
};

struct ProbeLog {
    std::vector<ProbeField> fields;
    std::int64_t begin_ns = 0, end_ns = 0;
};

// A LoadStep is the load on a device from a moment on: 0 is none, 1 is all of it.
struct LoadStep {
    std::int64_t time_ns = 0;
    double load = 0.0;
    bool operator==(const LoadStep&) const = default;
};

// Write and read the file. `name` stands for it in errors. Errors: malformed, with the line's number. More
// than 1000 fields are malformed too.
[[nodiscard]] std::string text_of(const ProbeLog& log);
[[nodiscard]] Result<ProbeLog> parse_probe_log(std::string_view text, std::string_view name);
// Reads a load log of two steps or more: CSV `time_ns,load`, in order of time. Errors: malformed.
[[nodiscard]] Result<std::vector<LoadStep>> parse_load(std::string_view text, std::string_view name);

}  // namespace viridian::meter
