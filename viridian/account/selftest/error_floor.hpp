#pragma once
// The smallest error that any method could have: that of the best linear estimate of each kind's joules by
// someone who is told the sensor, the distribution that watts are drawn from, and the noise: the error that
// is left cannot be found in the readings. Selftest prints it beside `deconvolve`, which is told none of
// that.
#include "viridian/account/selftest/synthetic_program.hpp"

namespace viridian::account {

// The median relative error over kinds.
[[nodiscard]] double error_floor(const SyntheticProgram& truth, const meter::Series& series,
                                 const SensorModel& sensor, const Scenario& scenario);

}  // namespace viridian::account
