#pragma once
// Estimates the smallest error that a method could reach on given readings, for comparison with
// `deconvolve`. It is the error of the best linear estimate of each kind's joules by someone who is told the
// sensor, the noise and the distribution from which the watts are drawn (docs/account.md, "The floor").
// `deconvolve` is told none of that; the selftest prints both.
#include "viridian/account/selftest/synthetic_program.hpp"

namespace viridian::account {

// Returns the median relative error over the kinds of operation. `series` holds the readings of `sensor` for
// the program `truth`, which was made from `scenario`.
[[nodiscard]] double error_floor(const SyntheticProgram& truth, const meter::Series& series,
                                 const SensorModel& sensor, const Scenario& scenario);

}  // namespace viridian::account
