#pragma once
// How far apart the device's threads are.
#include "viridian/base/units.hpp"

namespace viridian::execute::cpu {

// How long a cache line that one of `threads` threads wrote takes to reach the next one, best of a few
// batches: about a tenth of a millisecond in all. Each thread needs a processor of its own, for they spin.
[[nodiscard]] Seconds hand_over(int threads);

}  // namespace viridian::execute::cpu
