#pragma once
// Reads the power of one device from a power log: the sum of its counted channels (meter/meters/list.hpp),
// without the share of other processes.
#include "viridian/account/power/power_types.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::account {

struct Power {
    PowerCurve curve;                   // of the device, without other processes
    std::vector<meter::Series> series;  // the counted channels
    std::string provenance;             // of each channel: "measured:powercap package"
    Provenance total_from;              // the same as one: the sources of all channels, the weakest kind
    Exact others = 0;                   // energy of other processes, which was taken off
    bool estimated = false;             // a channel is an estimate
    // How far rounding may put the total off: a log keeps whole microjoules and microwatts.
    Exact resolution = 0;

    // Returns where the total comes from. It is the meter's own unless other processes were taken off.
    [[nodiscard]] Provenance total_provenance() const;
};

// Returns the power of `device`, which is empty if no channel of `log` measures it. Readings are moved back
// by `meter_shift`. Only each `keep_each`-th reading is used, to find out what precision costs (ASSS).
[[nodiscard]] Power power_of(const meter::PowerLog& log, std::string_view device, Nanoseconds meter_shift,
                             int keep_each = 1);

}  // namespace viridian::account
