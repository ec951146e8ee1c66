#pragma once
// `viridian account selftest`: every sensor model, every method, against the ground truth.
#include <functional>

#include "viridian/account/truth.hpp"

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
    double floor = 0.0;         // deconvolve only: what is not in the readings (floor.hpp)
};

// Sensors whose name holds `sensor` (empty: all). `progress` is told what comes next.
[[nodiscard]] std::vector<Score> selftest(const Scenario& scenario, std::string_view sensor = {},
                                          const std::function<void(std::string_view)>& progress = {});

// One method on one sensor over several programs (seeds).
struct Spread {
    std::string sensor, method;
    std::size_t seeds = 0;
    double median_error = 0.0, worst_error = 0.0;  // of the seeds' median errors
    double median_coverage = 0.0, worst_coverage = 0.0;
    Seconds median_shift_error, worst_shift_error;  // absolute; where the gate let it
    std::size_t refused = 0;                        // by the gate
    std::size_t worse_than_overlap = 0;             // seeds
    double median_floor = 0.0, worst_floor = 0.0;
};
[[nodiscard]] std::vector<Spread> spread(const std::vector<std::vector<Score>>& by_seed, Seconds true_shift);

}  // namespace viridian::account
