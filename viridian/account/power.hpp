#pragma once
// Power of one device from a log: the counted channels (meter/list.hpp) added up, the other processes' share
// taken off.
#include "viridian/account/steps.hpp"
#include "viridian/meter/power_log.hpp"

namespace viridian::account {

struct Power {
    Steps steps;
    std::vector<meter::Series> series;  // counted
    std::string provenance;
    Exact others = 0;
    bool estimated = false;
};

// `keep_each`: only each n-th reading (precision, ASSS).
[[nodiscard]] Power power_of(const meter::PowerLog& log, std::string_view device, Nanoseconds meter_shift,
                             int keep_each = 1);

}  // namespace viridian::account
