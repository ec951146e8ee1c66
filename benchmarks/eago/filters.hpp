#pragma once
// What systems before EAGO could choose, as sources that offer less.
#include "viridian/cost/source.hpp"

namespace viridian::eago {

// Each region by the kernel that is fastest alone: MetaFlow, which leaves the choice to the library.
[[nodiscard]] cost::PriceSource fastest_only(cost::PriceSource source);
// Each region by the first kernel that the library offers: no inner search.
[[nodiscard]] cost::PriceSource first_only(cost::PriceSource source);
// No region of several nodes: fusion is a substitution, in EAGO's words.
[[nodiscard]] cost::PriceSource unfused(cost::PriceSource source);

}  // namespace viridian::eago
