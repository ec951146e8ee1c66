#pragma once
// Closes what the hull leaves open (hull.hpp, 3): searches by labels for plans above the hull's pieces that
// are better than the best one known.
#include "viridian/search/assign/assign.hpp"
#include "viridian/search/exact/labels.hpp"

namespace viridian::search {

struct OpenGap {
    Metric x = Metric::time, y = Metric::energy;
    double known = infinite;   // value of the best plan so far
    double bound = -infinite;  // that no plan's value is below
    double from = 0, to = 0;   // every better plan has an x between these
    double least_y = 0;        // no plan has a y below this
    // Normals of the pieces that a better plan may lie above, lowest first.
    std::vector<Direction> directions;
};

struct ClosedGap {
    std::optional<Outcome> better;
    double bound = -infinite;
};

// Ends at the time limit of `options.exact`; what is left open then shows in the bound.
[[nodiscard]] ClosedGap close_gap(const Instance& instance, const Objective& objective, const Metrics& start,
                                  const AssignOptions& options, const OpenGap& gap);

}  // namespace viridian::search
