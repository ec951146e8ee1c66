#pragma once
// Fits the response of a sensor to a load: each reading is the mean of the load over a window that ended
// `lag` before it (or, as a rival, an exponential decay), times watts, plus idle watts. Window and lag are
// those with the least misfit over readings taken while the load stepped on and off.
#include <span>
#include <vector>

#include "viridian/meter/characterise/probe_log.hpp"

namespace viridian::meter {

struct Observation {
    double time = 0.0;   // s, since the load log's first step
    double watts = 0.0;  // a reading, or a counter's mean since `since`
    double since = 0.0;  // counters only: the window is known
};

enum class Shape : std::uint8_t { mean, decay };

struct Response {
    Shape shape = Shape::mean;
    double window = 0.0;  // s; of a decay its time constant
    double lag = 0.0;     // s
    double window_low = 0.0, window_high = 0.0, lag_low = 0.0, lag_high = 0.0;  // 95 %, block jackknife
    double explained = 0.0;         // share of the readings' variance that the fit explains
    double idle = 0.0, full = 0.0;  // W: the line's ends
};

// `counter`: windows are the observations' own; only the lag is sought. Nothing sensible can be said of fewer
// than 20 observations or of a load that never changes: `explained` is 0 then.
[[nodiscard]] Response fit_response(std::span<const Observation> observations, std::span<const LoadStep> load,
                                    bool counter);

}  // namespace viridian::meter
