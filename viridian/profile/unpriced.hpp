#pragma once
// Makes a price source without prices, for the solver `first`, which needs none.
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::profile {

// Returns what the device offers, with nothing measured: every kernel and conversion costs zero seconds.
[[nodiscard]] cost::PriceSource unpriced(execute::Device& device);

}  // namespace viridian::profile
