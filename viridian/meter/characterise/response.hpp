#pragma once
// Fits how a sensor responds to a load. In the model a reading is the idle power plus the mean load over a
// window, times the additional power at full load; the window ended `lag` before the reading. The alternative
// to the mean is an exponential decay, which is chosen only if it fits clearly better. Window and lag are
// those with the least squared error over readings taken while the load stepped on and off.
#include <span>
#include <vector>

#include "viridian/meter/characterise/probe_log.hpp"

namespace viridian::meter {

// An Observation is one reading of a sensor.
struct Observation {
    double time = 0.0;   // s, since the load log's first step
    double watts = 0.0;  // a power's value, or a counter's mean power since `since`
    double since = 0.0;  // s; for counters only, whose windows are known
};

enum class Shape : std::uint8_t { mean, decay };

struct Response {
    Shape shape = Shape::mean;
    double window = 0.0;  // s; for a decay its time constant
    double lag = 0.0;     // s
    double window_low = 0.0, window_high = 0.0, lag_low = 0.0, lag_high = 0.0;  // 95 %, block jackknife
    double explained = 0.0;         // share of the readings' variance that the fit explains
    double idle = 0.0, full = 0.0;  // W without load and under full load
};

// Fits the response of a sensor to `load`. If `counter`, the windows are those of the observations, and only
// the lag is sought. With fewer than 20 observations or 2 load steps, or if the power does not rise with the
// load, `explained` is 0.
[[nodiscard]] Response fit_response(std::span<const Observation> observations, std::span<const LoadStep> load,
                                    bool counter);

}  // namespace viridian::meter
