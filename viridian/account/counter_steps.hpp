#pragma once
// A running counter's readings as steps. A counter that falls went round its wrap, or was reset, or its
// device came back as another: only the first has an energy. A fall is a wrap where the readings on both
// sides of it are close together and the energy that the wrap would mean is near what the device draws
// elsewhere; any other fall, and a rise that no device could draw, is a reset: its energy is unknown, counts
// as nothing and belongs to nobody.
#include "viridian/account/steps.hpp"

namespace viridian::account {

// `period` and `gaps` are left to the caller; `shortest_gap` as in `steps_of`.
[[nodiscard]] Steps counter_steps(const meter::Series& series, Nanoseconds shift, Nanoseconds gap_polls);

}  // namespace viridian::account
