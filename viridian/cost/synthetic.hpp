#pragma once
// Prices of a processor that does not exist, with the trade-offs that EAGO's Table 1 shows on a V100: kernels
// that are slower but leaner, kernels that exist for some shapes only, and layouts that cost conversions. On
// real processors without a meter estimated joules follow time, so objectives are tried on this one too
// (docs/cost.md has the formulas). A price depends on the region's signature and the seed alone.
#include "viridian/cost/source.hpp"

namespace viridian::cost {

[[nodiscard]] Source synthetic(std::uint64_t seed);

inline constexpr std::string_view synthetic_name = "synthetic-gpu";

}  // namespace viridian::cost
