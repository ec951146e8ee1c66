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
};

// `progress` is told what comes next.
[[nodiscard]] std::vector<Score> selftest(const Scenario& scenario,
                                          const std::function<void(std::string_view)>& progress = {});

}  // namespace viridian::account
