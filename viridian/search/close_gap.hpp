#pragma once
// What the hull leaves open of an objective that is not additive, closed by labels (exact/labels.hpp): plans
// above the hull's pieces that are still better than the best one known.
#include "viridian/search/assign.hpp"
#include "viridian/search/exact/labels.hpp"

namespace viridian::search {

struct OpenGap {
    Metric x = Metric::time, y = Metric::energy;
    double known = infinite;   // value of the best plan so far
    double bound = -infinite;  // of all plans
    double from = 0, to = 0;   // every better plan has an x between these,
    double least_y = 0;        // and no plan a y below this
    std::vector<Direction>
        directions;  // normals of the pieces that a better plan may lie above, lowest first
};

struct ClosedGap {
    std::optional<Outcome> better;
    double bound = -infinite;
};

// The time limit is that of `options.exact`; what is left open then shows in the bound.
[[nodiscard]] ClosedGap close_gap(const Instance& instance, const Objective& objective, const Metrics& start,
                                  const AssignOptions& options, const OpenGap& gap);

}  // namespace viridian::search
