#pragma once
// The least value of a function of two sums: every assignment has a point (x, y), each sum an assignment
// problem of the same variables and edges. Dominance-pruned labels (docs/method.md, 2): along the tree of an
// elimination order, each entry of a table keeps the points that partial assignments reach and that no other
// one dominates. A label goes where the rest, which is known to add at least so much in some direction
// (bucket_tree.hpp), leads beyond all points that could still beat the best known one. First whole states are
// taken out in that way. Where there are too many labels, the least promising go, and bound the result.
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
    std::function<double(double x, double y)> value;  // infinite where a limit is broken
    // Label a dominates b where it is no further in both: whatever is added to both, its value is no higher.
    Direction first, second;
    // In these, what the rest adds is computed. The foremost one bounds the value best.
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

// `known`: the value to beat; `bound`: what is proven already. States are empty where nothing below `known`
// was found; the bound is proven either way. Deterministic but for where the time limit cuts.
[[nodiscard]] Solution least_point(const TwoSums& sums, const PointGoal& goal, double known, double bound,
                                   const LabelOptions& options);

}  // namespace viridian::search
