#pragma once
// Bounds the ratio of two sums over a plan, such as energy over time, from below (hull.hpp, 2).
#include "viridian/search/assign/instance.hpp"
#include "viridian/search/objective/objective.hpp"

namespace viridian::search {

// Returns a lower bound of any plan's sum of `y` divided by its sum of `x`. It is the least ratio of any
// kernel or conversion (the mediant inequality); 0 if nothing is known.
[[nodiscard]] double least_ratio(const Instance& instance, Metric x, Metric y);

}  // namespace viridian::search
