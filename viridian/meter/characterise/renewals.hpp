#pragma once
// Finds when a meter renews its value: the period behind the moments at which the value was seen to change.
#include <optional>
#include <span>
#include <vector>

#include "viridian/meter/characterise/probe_log.hpp"

namespace viridian::meter {

struct Renewals {
    double period_ns = 0.0;              // between renewals
    double low_ns = 0.0, high_ns = 0.0;  // 95 % interval of the period
    double jitter_ns = 0.0;              // median deviation from a strict beat
    bool limited = false;          // the meter is renewed faster than it was read: the period is a limit
    std::vector<double> times_ns;  // of each reading, since the first `not_before_ns`
};

// Finds the period of `readings`. A renewal with an equal value is not seen as a change, so the gaps between
// changes are whole multiples of the period. Returns nothing for fewer than 10 readings.
[[nodiscard]] std::optional<Renewals> find_renewals(std::span<const ProbeReading> readings);

}  // namespace viridian::meter
