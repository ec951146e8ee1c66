#pragma once
// Runs every method of attribution on every model of a sensor and compares the joules with the known truth,
// for `viridian account selftest`.
#include <functional>

#include "viridian/account/selftest/synthetic_program.hpp"

namespace viridian::account {

struct Score {
    std::string sensor, method;
    double median_error = 0.0;  // relative, over kinds
    double p90_error = 0.0;
    double coverage = 0.0;  // kinds whose truth lies within the interval
    Seconds shift;          // found; deconvolve only
    Seconds shift_deviation;
    Seconds window;
    bool trusted = true;        // deconvolve's gate
    double imbalance_uj = 0.0;  // of the books
    double error_floor = 0.0;   // deconvolve only: what no method could find (error_floor.hpp)
};

// Runs on the sensors whose name holds `sensor` (empty: all). `progress` is told what comes next.
[[nodiscard]] std::vector<Score> selftest(const Scenario& scenario, std::string_view sensor = {},
                                          const std::function<void(std::string_view)>& progress = {});

// One method on one sensor over several programs (seeds).
struct SeedSummary {
    std::string sensor, method;
    std::size_t seeds = 0;
    double median_error = 0.0, worst_error = 0.0;  // of the seeds' median errors
    double median_coverage = 0.0, worst_coverage = 0.0;
    Seconds median_shift_error, worst_shift_error;  // absolute; of the fits that the gate trusted
    std::size_t refused = 0;                        // by the gate
    std::size_t worse_than_overlap = 0;             // seeds
    double median_error_floor = 0.0, worst_error_floor = 0.0;
};
[[nodiscard]] std::vector<SeedSummary> spread(const std::vector<std::vector<Score>>& by_seed,
                                              Seconds true_shift);

}  // namespace viridian::account
