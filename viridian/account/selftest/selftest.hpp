#pragma once
// Runs every method of attribution on every model of a sensor and compares the joules with the known truth,
// for `viridian account selftest`.
#include <functional>
#include <optional>

#include "viridian/account/selftest/synthetic_program.hpp"

namespace viridian::account {

// A Score compares the joules of one method on one sensor with the truth, over all kinds of operation.
struct Score {
    std::string sensor, method;
    double median_error = 0.0;  // relative, over kinds
    double p90_error = 0.0;     // 90th percentile of the same errors
    double coverage = 0.0;      // part of the kinds whose truth lies within the interval
    // Whether the interval of a figure of the device holds its truth. What a residual estimates is known of
    // deconvolve only: by how much the meter is off. Other methods leave it empty.
    bool idle_held = true, unattributed_held = true;
    std::optional<bool> residual_held;
    Seconds shift;  // found by deconvolve; other methods leave this and the next two at 0
    Seconds shift_deviation;
    Seconds window;
    bool trusted = true;        // deconvolve: its gate accepted the fit; if not, overlap is scored
    double imbalance_uj = 0.0;  // `Attribution::imbalance` in microjoules
    double error_floor = 0.0;   // deconvolve only: the least error that is possible (error_floor.hpp)
};

// Scores all methods on the sensors whose name holds `sensor` (empty: all), for one program that is made from
// `scenario`. `progress` is called with the name of the next step.
[[nodiscard]] std::vector<Score> selftest(const Scenario& scenario, std::string_view sensor = {},
                                          const std::function<void(std::string_view)>& progress = {});

// A SeedSummary is the spread of one method's scores on one sensor over several programs (seeds).
struct SeedSummary {
    std::string sensor, method;
    std::size_t seeds = 0;
    double median_error = 0.0, worst_error = 0.0;  // of the seeds' median errors
    double median_coverage = 0.0, worst_coverage = 0.0;
    Seconds median_shift_error, worst_shift_error;     // absolute; of the fits that the gate trusted
    std::size_t idle_held = 0, unattributed_held = 0;  // seeds whose interval holds the truth
    std::size_t residual_held = 0, residuals = 0;      // the same, of so many seeds with a residual
    std::size_t refused = 0;                           // seeds whose fit the gate refused
    std::size_t worse_than_overlap = 0;                // seeds on which overlap had the smaller error
    double median_error_floor = 0.0, worst_error_floor = 0.0;
};
// Summarises the scores `by_seed`, one list per program. `true_shift` is the shift of the scenario.
[[nodiscard]] std::vector<SeedSummary> spread(const std::vector<std::vector<Score>>& by_seed,
                                              Seconds true_shift);

}  // namespace viridian::account
