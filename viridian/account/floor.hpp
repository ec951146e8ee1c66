#pragma once
// How well could anybody do? The best linear estimate of each kind's joules by someone who is told the
// sensor, the distribution that watts are drawn from, and the noise: what is left is not in the readings.
// Selftest prints it beside `deconvolve`, which is told none of that.
#include "viridian/account/truth.hpp"

namespace viridian::account {

// Median relative error over kinds.
[[nodiscard]] double floor_error(const Truth& truth, const meter::Series& series, const SensorModel& sensor,
                                 const Scenario& scenario);

}  // namespace viridian::account
