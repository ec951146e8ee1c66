#pragma once
// Identifies the sensor: finds the window length and the total shift (sensor lag plus clock offset) with
// which the recorded operations explain its readings best. A coarse grid on part of the data comes first,
// then Gauss-Newton steps on more of it (docs/method.md, 5).
#include <optional>

#include "viridian/account/deconvolve/fit.hpp"

namespace viridian::account {

struct Search {
    Seconds widest{0.05};  // shifts from -widest to +widest, for means plus one period
    std::size_t coarse_windows = 1500;
    std::size_t fine_windows = 20000;
};

struct Identified {
    Sensor sensor;
    double misfit = 0.0;             // W^2 per window there
    double typical = 0.0;            // median misfit over the grid: what a wrong shift leaves
    bool at_edge = false;            // the best lies at the end of the range searched
    std::optional<double> rival_ns;  // another shift that explains the readings almost as well
};

// `start` holds what is known of the sensor; its window is 0 if nothing is known. It comes back unchanged if
// there are too few windows to tell anything.
[[nodiscard]] Identified identify(const Design& design, std::span<const Window> windows, Sensor start,
                                  const Search& search);

}  // namespace viridian::account
