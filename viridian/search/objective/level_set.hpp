#pragma once
// A LevelSet describes an objective of two metrics as a function on their plane (hull.hpp, 3): which points
// have at most a given value, how far these reach, and which way the objective rises there. This is all
// that the label search (exact/labels.hpp) has to know of an objective.
#include "viridian/search/objective/objective.hpp"

namespace viridian::search {

class LevelSet {
  public:
    // Looks at totals with `from` ≤ x ≤ `to` of the metric `x`, and y ≥ `least_y` of the other one. If the
    // objective has power, x must be time and y energy.
    LevelSet(const Objective& objective, const Metrics& start, Metric x, double from, double to,
             double least_y);

    // Returns the objective's value at (x, y); infinity beyond the limit.
    [[nodiscard]] double value(double x, double y) const;
    // Returns a lower bound of the value for x between `from` and `to` and y of at least `y`; infinity
    // beyond the limit.
    [[nodiscard]] double least_in(double from, double to, double y) const;
    // Returns a lower bound of the value if x is at least `from`, y at least `y` and y/x at least `ratio`;
    // infinity beyond the limit.
    [[nodiscard]] double least_beyond(double from, double y, double ratio) const;
    // Returns the greatest wx·x + wy·y over points that keep the limit and have at most this value. `wy` is
    // 0 or more.
    [[nodiscard]] double farthest(double wx, double wy, double value) const;
    // A Cone lies between two directions (wx, wy). Along every direction in it, the objective and the
    // metric that its limit bounds rise.
    struct Cone {
        std::pair<double, double> first, second;
    };
    // Returns such a cone for all points of at most this value.
    [[nodiscard]] Cone rising(double value) const;

  private:
    // Returns the highest y of points at `x` that have at most this value.
    [[nodiscard]] double top(double x, double value) const;
    // Returns the greatest wx·x + wy·y over such points between `from` and `to`.
    [[nodiscard]] double best_on(double from, double to, double wx, double wy, double value) const;

    bool product_ = false;
    double x_ = 0, y_ = 0, power_ = 0;  // coefficients, or exponents with power spread over both
    double scale_ = 1;                  // of a product
    double most_x_ = 0, most_y_ = 0, most_power_ = 0;  // limits; infinite where there is none
    double from_ = 0, to_ = 0, least_y_ = 0;
};

}  // namespace viridian::search
