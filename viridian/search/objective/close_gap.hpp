#pragma once
// Closes the gap that the hull leaves open (hull.hpp, 3): it searches by labels for plans above the hull's
// pieces that are better than the best one known.
#include "viridian/search/assign/assign.hpp"
#include "viridian/search/exact/labels.hpp"

namespace viridian::search {

// An OpenGap says where plans may still lie that are better than the best one known.
struct OpenGap {
    Metric x = Metric::time, y = Metric::energy;
    double known = infinite;   // value of the best plan so far
    double bound = -infinite;  // no plan's value is below this
    double from = 0, to = 0;   // every better plan has an x between these
    double least_y = 0;        // no plan has a y below this
    // `directions` are the normals of the pieces above which a better plan may lie, lowest piece first.
    std::vector<Direction> directions;
};

// A ClosedGap holds a better plan, if there is one, and the bound that is now proven.
struct ClosedGap {
    std::optional<Outcome> better;
    double bound = -infinite;
};

// Searches `gap` for the best plan. The search ends at the time limit of `options.exact`; what is left open
// then shows in the bound.
[[nodiscard]] ClosedGap close_gap(const Instance& instance, const Objective& objective, const Metrics& start,
                                  const AssignOptions& options, const OpenGap& gap);

}  // namespace viridian::search
