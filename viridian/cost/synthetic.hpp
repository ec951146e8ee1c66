#pragma once
// Computes the prices of a processor that does not exist, with the trade-offs that EAGO's Table 1 shows on a
// V100: kernels that are slower but leaner, kernels that exist for some shapes only, and layouts that cost
// conversions. On real processors without a meter estimated joules follow time, so objectives are tried on
// this one too (docs/cost.md has the formulas). A price depends on the region's signature and the processor
// alone.
#include "viridian/cost/processor.hpp"
#include "viridian/cost/source.hpp"

namespace viridian::cost {

[[nodiscard]] PriceSource synthetic(Processor processor);
// Does the same for the default processor with this seed.
[[nodiscard]] PriceSource synthetic(std::uint64_t seed);

}  // namespace viridian::cost
