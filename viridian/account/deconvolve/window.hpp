#pragma once
// A fit sees a sensor as windows of known mean power, with two unknowns: the window's length and its shift. A
// reading at time t tells of [t - shift - length, t - shift) on the trace's clock. Counters say their own
// lengths; a mean's length is the sensor's `window`.
#include <vector>

#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

struct Window {
    Nanoseconds end = 0;
    Nanoseconds length = 0;  // 0: the sensor's
    double watts = 0.0;
};

struct Sensor {
    bool counter = true;
    double window_ns = 0.0;  // of a mean; of a counter its median step, for the record
    double shift_ns = 0.0;   // lag and clock offset together: they cannot be told apart
    double shift_deviation_ns = 0.0;
    double period_ns = 0.0;  // median time between readings that differ
};

[[nodiscard]] std::vector<Window> windows_of(const PowerCurve& curve);      // counters
[[nodiscard]] std::vector<Window> windows_of(const meter::Series& series);  // powers: readings that changed

}  // namespace viridian::account
