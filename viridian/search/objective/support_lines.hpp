#pragma once
// Bounds an objective by lines that every plan lies on or above (hull.hpp, 2), each the proven bound of an
// additive problem.
#include "viridian/search/objective/level_set.hpp"

namespace viridian::search {

// A SupportLine says that wx·x + wy·y of every plan is at least `bound`.
struct SupportLine {
    double wx = 0, wy = 0;
    double bound = 0;
};

// Returns a lower bound of the objective `level` over all points that lie on or above all `lines` and keep
// the limit. No plan may have an x below `from`; beyond `to` only lines that do not fall are used.
[[nodiscard]] double least_above(const std::vector<SupportLine>& lines, const LevelSet& level, double from,
                                 double to);

}  // namespace viridian::search
