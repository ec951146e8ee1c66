#pragma once
// Bounds an objective by lines that every plan lies on or above (hull.hpp, 2), each the proven bound of an
// additive problem.
#include "viridian/search/objective/level_set.hpp"

namespace viridian::search {

struct SupportLine {
    double wx = 0, wy = 0;
    double bound = 0;  // wx·x + wy·y of every plan is at least this
};

// Returns a value that no point on or above all lines that keeps the limit is below. No plan may have an x
// below `from`; beyond `to` only lines that do not fall are used.
[[nodiscard]] double least_above(const std::vector<SupportLine>& lines, const LevelSet& level, double from,
                                 double to);

}  // namespace viridian::search
