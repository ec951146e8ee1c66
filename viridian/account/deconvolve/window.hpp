#pragma once
// Presents the readings of a sensor as windows of known mean power, which `deconvolve` fits. A reading at
// time t tells the mean power over [t - shift - length, t - shift) on the trace's clock. A counter's window
// is the time between two readings; the length of a mean's window (`window_ns`) and the shift of either are
// what identify.hpp looks for.
#include <vector>

#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

struct Window {
    Nanoseconds end = 0;     // time of the reading
    Nanoseconds length = 0;  // 0: that of the sensor
    double watts = 0.0;
};

struct Sensor {
    bool counter = true;
    double window_ns = 0.0;  // length of a mean; a counter's median step, for the record
    double shift_ns = 0.0;   // lag and clock offset together: they cannot be told apart
    double shift_deviation_ns = 0.0;
    double period_ns = 0.0;  // median time between readings that differ
};

// Return the windows of a counter's curve (one per segment that is not a gap) and of a power's readings (one
// per reading that differs from the one before it).
[[nodiscard]] std::vector<Window> windows_of(const PowerCurve& curve);
[[nodiscard]] std::vector<Window> windows_of(const meter::Series& series);

}  // namespace viridian::account
