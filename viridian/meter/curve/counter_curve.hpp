#pragma once
// Makes a curve of power from the readings of a running counter. Readings that repeat a value are merged,
// because the meter had not moved yet; where most do, the times of the others are those at which the counter
// was renewed (renewal.hpp), not those at which it was read. Each remaining pair is judged by
// `counter_interval`, which knows what the device drew over the whole recording.
#include "viridian/meter/curve/power_curve.hpp"

namespace viridian::meter {

// Returns the readings of `series` as a curve, moved back by `shift`. A pair of readings counts as silent if
// it is further apart than `longest` and than four times the usual distance. The curve's `gaps` and the
// warning about them are left to the caller.
[[nodiscard]] PowerCurve counter_curve(const Series& series, Nanoseconds shift, Nanoseconds longest);

}  // namespace viridian::meter
