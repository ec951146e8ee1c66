#pragma once
// Minimises a function of two sums over one assignment. Every assignment has a point (x, y), because each
// of the two sums is an assignment problem of the same variables and edges (docs/method.md, 2). Along the
// tree of an elimination order, each entry of a table keeps labels: the points of partial assignments that
// no other label dominates. bucket_tree.hpp gives the least that the remaining variables add in some
// directions. A label is dropped if its point together with that least lies beyond all points that could
// still beat the best known one. Whole states are removed in the same way first. If there are too many
// labels, the least promising are dropped and bound the result.
#include <functional>

#include "viridian/search/exact/solve.hpp"

namespace viridian::search {

// A Direction weighs the two sums; of() returns the weighted sum of a point.
struct Direction {
    double x = 0, y = 0;
    [[nodiscard]] double of(double at_x, double at_y) const { return x * at_x + y * at_y; }
};

// TwoSums are the two problems, which have the same variables, states and edges.
struct TwoSums {
    const Problem* x = nullptr;
    const Problem* y = nullptr;
};

// A PointGoal is the function to minimise, with what is known of its shape.
struct PointGoal {
    std::function<double(double x, double y)> value;  // infinite if a limit is broken
    // A label dominates another if it lies no further in both of these directions: whatever is added to
    // both, its value is no higher.
    Direction first, second;
    // These are the directions in which the least that the rest adds is computed. The first of them should
    // bound the value best.
    std::vector<Direction> directions;
    // Returns the farthest that a point of at most `value` lies in the direction.
    std::function<double(const Direction&, double value)> farthest;
};

// LabelOptions limit the search.
struct LabelOptions {
    double most_work = 3e8;                           // additions for one sum's tables
    std::size_t most_labels = std::size_t{1} << 21U;  // of one table
    Seconds time_limit{10};
    double tolerance = 0;  // relative gap that is not worth closing
    std::function<bool()> cancelled;
};

// Returns the assignment of least value. `known` is the value to beat, `bound` a lower bound that is proven
// already. The states are empty if nothing below `known` was found; the bound is proven either way. The
// result is deterministic unless time runs out.
[[nodiscard]] Solution least_point(const TwoSums& sums, const PointGoal& goal, double known, double bound,
                                   const LabelOptions& options);

}  // namespace viridian::search
