#pragma once
// Makes a curve of power of a running counter's readings. Readings that repeat a value are merged, because
// the meter had not moved yet; each remaining pair is judged by `counter_interval`, which knows what the
// device drew over the whole recording.
#include "viridian/meter/curve/power_curve.hpp"

namespace viridian::meter {

// The readings of `series` as a curve, moved back by `shift`; a pair of them is silent if it is further apart
// than `longest` and than four times the usual distance. Fills neither `gaps` nor the warning about them.
[[nodiscard]] PowerCurve counter_curve(const Series& series, Nanoseconds shift, Nanoseconds longest);

}  // namespace viridian::meter
