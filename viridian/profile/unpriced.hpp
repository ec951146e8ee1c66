#pragma once
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::profile {

// What the device offers, with nothing measured: every kernel and conversion has the price of zero seconds.
// For the solver `first`, which needs no prices.
[[nodiscard]] cost::Source unpriced(execute::Device& device);

}  // namespace viridian::profile
