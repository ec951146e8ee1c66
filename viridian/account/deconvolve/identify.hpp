#pragma once
// Identifies the sensor: finds the window length and the total shift (sensor lag plus clock offset) with
// which the recorded operations explain its readings best. A coarse grid on part of the data comes first,
// then Gauss-Newton steps on more of it (docs/method.md, 5).
#include <optional>

#include "viridian/account/deconvolve/fit.hpp"

namespace viridian::account {

// A Search says how far and on how much data identify() looks. Shifts from -widest to +widest are tried; for
// a sensor that reports means of power, the upper end is later by one of its periods.
struct Search {
    Seconds widest{0.05};
    std::size_t coarse_windows = 1500;  // windows used for the grid; a third of them for means
    std::size_t fine_windows = 20000;   // windows used for the last steps
};

struct Identified {
    Sensor sensor;
    double misfit = 0.0;             // W^2 per window with `sensor`; infinite if there are too few windows
    double typical = 0.0;            // median misfit over the grid, as a wrong shift leaves it
    bool at_edge = false;            // the best shift lies at the end of the range searched
    std::optional<double> rival_ns;  // another shift that explains the readings almost as well
};

// Returns the sensor. `start` holds its known properties; its window is 0 if that is not known. If there are
// too few windows to tell anything, `start` is returned unchanged.
[[nodiscard]] Identified identify(const Design& design, std::span<const Window> windows, Sensor start,
                                  const Search& search);

}  // namespace viridian::account
