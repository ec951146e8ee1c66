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
    double idle_noise = 1.0;  // squared misfit of the windows with more idle time, relative to the other half
    // Squared sum of the misfits in a second or two, relative to what unrelated misfits of the same size
    // give: about 1 if the model is right, many times as much if power changes for reasons that it does not
    // know.
    double wander = 1.0;

    // Returns the standard deviation of an energy (J) that is linear in the fit's coefficients, with these
    // `weights`. It is the largest of several: that of the model, and those shown by the scatter between
    // blocks of windows, short and long ones. Long blocks show what is related over seconds, such as a clock
    // that changes.
    [[nodiscard]] double deviation_of(const std::vector<double>& weights) const;

    struct Blocks {
        std::vector<std::vector<double>> scores;  // per block: sum of row × residual
        double correction = 1.0;                  // for the few blocks and the unknowns that were fitted
    };
    std::vector<Blocks> blocks;  // from short to long
};

// Returns the fit. `sensor` is the result of `identify`, `windows` has at least 24 entries, and `mean` is
// their mean power.
[[nodiscard]] WattsFit fit_watts(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                                 Watts mean);

// The number of parts into which the windows are divided to be held out. `deconvolve_bytes` counts a matrix
// for each.
inline constexpr std::size_t held_out_folds = 5;

}  // namespace viridian::account
