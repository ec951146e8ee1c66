#pragma once
// Lines that every plan lies on or above, each the proven bound of an additive problem: what is known of an
// objective where the hull itself is not proven.
#include "viridian/search/level_set.hpp"

namespace viridian::search {

struct SupportLine {
    double wx = 0, wy = 0;
    double bound = 0;  // wx·x + wy·y of every plan is at least this
};

// No point on or above all lines that keeps the limit has a lower value. No plan has
// an x below `from`; beyond `to` only lines that do not fall count.
[[nodiscard]] double least_above(const std::vector<SupportLine>& lines, const LevelSet& level, double from,
                                 double to);

}  // namespace viridian::search
