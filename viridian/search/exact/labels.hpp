#pragma once
// Minimises a function of two sums over one assignment: every assignment has a point (x, y), and each of the
// two sums is an assignment problem of the same variables and edges (docs/method.md, 2). Along the tree of an
// elimination order, each entry of a table keeps labels: the points that partial assignments reach and that
// no other label dominates. The rest is known to add at least so much in some direction (bucket_tree.hpp); a
// label is dropped if that leads beyond all points that could still beat the best known one. Whole states are
// taken out in the same way first. If there are too many labels, the least promising are dropped and bound
// the result.
#include <functional>

#include "viridian/search/exact/solve.hpp"

namespace viridian::search {

struct Direction {
    double x = 0, y = 0;
    [[nodiscard]] double of(double at_x, double at_y) const { return x * at_x + y * at_y; }
};

struct TwoSums {
    const Problem* x = nullptr;
    const Problem* y = nullptr;
};

struct PointGoal {
    std::function<double(double x, double y)> value;  // infinite if a limit is broken
    // Label a dominates b if it is no further in both: whatever is added to both, its value is no higher.
    Direction first, second;
    // The directions in which the rest's least sum is computed. The first of them should bound the value
    // best.
    std::vector<Direction> directions;
    // No point of at most this value lies further in the direction.
    std::function<double(const Direction&, double value)> farthest;
};

struct LabelOptions {
    double most_work = 3e8;                           // additions for one sum's tables
    std::size_t most_labels = std::size_t{1} << 21U;  // of one table
    Seconds time_limit{10};
    double tolerance = 0;  // relative gap that is not worth closing
    std::function<bool()> cancelled;
};

// `known` is the value to beat, `bound` what is proven already. The states are empty if nothing below `known`
// was found; the bound is proven either way. Deterministic, except for when time runs out.
[[nodiscard]] Solution least_point(const TwoSums& sums, const PointGoal& goal, double known, double bound,
                                   const LabelOptions& options);

}  // namespace viridian::search
