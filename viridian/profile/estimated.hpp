#pragma once
// Makes a price source of what the device offers and what a model of its speed says, where nothing was
// measured.
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::profile {

// Returns prices by the roofline model (Williams, Waterman and Patterson, 2009) of a processor like many: a
// kernel takes as long as its bytes or its arithmetic, whichever is more, and a little for being started. A
// kernel that the device lists later is taken to be slower, because families are listed best known first, and
// so is a convolution in another layout than the first that is listed for its kernel.
// The prices rank layouts and fused regions; they say nothing about how long a run takes, and nothing about
// energy.
[[nodiscard]] cost::PriceSource estimated(execute::Device& device);

}  // namespace viridian::profile
