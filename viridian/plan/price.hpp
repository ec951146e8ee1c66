#pragma once
// Price is what one kernel or one conversion costs: its time with an interval, and its energy with interval
// and provenance. A solver keeps a price with each of its choices, so that nobody has to look it up again.
#include "viridian/base/energy.hpp"

namespace viridian::plan {

struct Price {
    Seconds seconds;    // median of timings with cold weights and warm activations (docs/method.md, 1)
    Seconds low, high;  // 95 % interval of that median
    Energy energy;
};

}  // namespace viridian::plan
