#pragma once
// Describes an objective of two metrics as a function on their plane (hull.hpp, 3): which points have at most
// a given value, how far these reach, and which way the objective rises there. This is all that the label
// search (exact/labels.hpp) has to know of an objective.
#include "viridian/search/objective/objective.hpp"

namespace viridian::search {

class LevelSet {
  public:
    // Looks at totals with `from` ≤ x ≤ `to` of the metric `x`, and y ≥ `least_y` of the other one. If the
    // objective has power, x must be time and y energy.
    LevelSet(const Objective& objective, const Metrics& start, Metric x, double from, double to,
             double least_y);

    // The objective's value at (x, y); infinite beyond the limit.
    [[nodiscard]] double value(double x, double y) const;
    // A lower bound of the value if `from` ≤ x ≤ `to` and y is at least this; infinite beyond the limit.
    [[nodiscard]] double least_in(double from, double to, double y) const;
    // A lower bound if x is at least `from`, y at least `y` and y/x at least `ratio`.
    [[nodiscard]] double least_beyond(double from, double y, double ratio) const;
    // The greatest wx·x + wy·y over points of at most this value that keep the limit, for weights of 0 or
    // more.
    [[nodiscard]] double farthest(double wx, double wy, double value) const;
    // The objective, and what its limit bounds, rise along every direction (wx, wy) between these two at all
    // points of at most this value.
    struct Cone {
        std::pair<double, double> first, second;
    };
    [[nodiscard]] Cone rising(double value) const;

  private:
    // The highest y at this x of points of at most this value.
    [[nodiscard]] double top(double x, double value) const;
    [[nodiscard]] double best_on(double from, double to, double wx, double wy, double value) const;

    bool product_ = false;
    double x_ = 0, y_ = 0, power_ = 0;  // coefficients, or exponents with power spread over both
    double scale_ = 1;                  // of a product
    double most_x_ = 0, most_y_ = 0, most_power_ = 0;  // limits; infinite where there is none
    double from_ = 0, to_ = 0, least_y_ = 0;
};

}  // namespace viridian::search
