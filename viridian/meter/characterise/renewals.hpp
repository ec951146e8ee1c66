#pragma once
// Finds when a meter renews its value: the period behind the moments at which the value was seen to change.
#include <optional>
#include <span>
#include <vector>

#include "viridian/meter/characterise/probe_log.hpp"

namespace viridian::meter {

struct Renewals {
    double period_ns = 0.0;
    double low_ns = 0.0, high_ns = 0.0;  // 95 %
    double jitter_ns = 0.0;              // median deviation from a strict beat
    bool limited = false;                // faster than it was asked: `period_ns` is the asking's
    std::vector<double> times_ns;        // of each reading, since the first `not_before_ns`
};

// A change is missed if a value repeats, so that gaps are whole multiples of the period. Gives nothing if
// fewer than 10 changes were seen.
[[nodiscard]] std::optional<Renewals> find_renewals(std::span<const ProbeReading> readings);

}  // namespace viridian::meter
