#pragma once
// Reads the power of one device from a power log: the sum of its counted channels (meter/meters/list.hpp),
// without the share of other processes.
#include "viridian/account/power/power_types.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::account {

struct Power {
    PowerCurve curve;
    std::vector<meter::Series> series;  // counted
    std::string provenance;
    Exact others = 0;
    bool estimated = false;
};

// Uses only each `keep_each`-th reading, to find out what precision costs (ASSS).
[[nodiscard]] Power power_of(const meter::PowerLog& log, std::string_view device, Nanoseconds meter_shift,
                             int keep_each = 1);

}  // namespace viridian::account
