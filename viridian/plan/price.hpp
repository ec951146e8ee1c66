#pragma once
// What one kernel or one conversion costs: its time with an interval, and its energy with interval and
// provenance. A solver leaves these with what it chose, so that nobody has to look a price up again.
#include "viridian/base/energy.hpp"

namespace viridian::plan {

struct Price {
    Seconds seconds;    // median of timings with cold weights and warm activations (docs/method.md, 1)
    Seconds low, high;  // 95 % interval of that median
    Energy energy;
};

}  // namespace viridian::plan
