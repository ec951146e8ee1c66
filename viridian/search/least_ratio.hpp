#pragma once
// What no plan's ratio of two sums can undercut.
#include "viridian/search/instance.hpp"
#include "viridian/search/objective.hpp"

namespace viridian::search {

// Every plan's sum of y is at least this many times its sum of x: no kernel's and no conversion's ratio is
// lower (the mediant inequality). 0 where nothing is known.
[[nodiscard]] double least_ratio(const Instance& instance, Metric x, Metric y);

}  // namespace viridian::search
