#pragma once
// Finds the watts of every kind of operation, the middle part of `deconvolve` (deconvolve.hpp), by
// regression on the sensor's windows. Windows that no fit explains are left out, the sensor's shift and
// window are settled together with the watts, and held-out windows tell how well the fit predicts.
#include "viridian/account/deconvolve/fit.hpp"

namespace viridian::account {

struct WattsFit {
    Sensor sensor;  // settled, with the deviation of its shift
    Fit fit;
    double held_out = 1.0;    // squared error on held-out windows, relative to a constant power
    double dropped = 0.0;     // part of the windows that was left out
    double idle_noise = 1.0;  // squared misfit of the half with more idle time, relative to the other half

    // The standard deviation of an energy that is linear in the fit's coefficients, with these weights: the
    // larger of the model's own and the one that the scatter between blocks of windows shows.
    [[nodiscard]] double deviation_of(const std::vector<double>& weights) const;

    std::vector<std::vector<double>> block_scores;
    double block_correction = 1.0;
};

// `sensor`: as `identify` found it. `windows` have at least 24 entries.
[[nodiscard]] WattsFit fit_watts(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                                 Watts mean);

// Parts into which the windows are divided to be held out; `deconvolve_bytes` counts a matrix for each.
inline constexpr std::size_t held_out_folds = 5;

}  // namespace viridian::account
