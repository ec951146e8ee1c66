#pragma once
// An objective of two metrics as a function on their plane: which points are at most as high as a value, how
// far these reach, and which way the objective rises there. What the label search (exact/labels.hpp) has to
// know of an objective.
#include "viridian/search/objective.hpp"

namespace viridian::search {

class LevelSet {
  public:
    // Over totals with `from` ≤ x ≤ `to` of the metric `x` and y ≥ `least_y` of the other. x is time and y
    // energy where there is power.
    LevelSet(const Objective& objective, const Metrics& start, Metric x, double from, double to,
             double least_y);

    // Infinite beyond the limit.
    [[nodiscard]] double value(double x, double y) const;
    // A lower bound of the value where `from` ≤ x ≤ `to` and y is at least this; infinite beyond the limit.
    [[nodiscard]] double least_in(double from, double to, double y) const;
    // The same where x is at least `from`, y at least `y` and y/x at least `ratio`.
    [[nodiscard]] double least_beyond(double from, double y, double ratio) const;
    // The greatest wx·x + wy·y over points of at most this value that keep the limit; weights not below 0.
    [[nodiscard]] double farthest(double wx, double wy, double value) const;
    // The objective, and what its limit bounds, rise along every direction (wx, wy) between these two at all
    // points of at most this value.
    struct Cone {
        std::pair<double, double> first, second;
    };
    [[nodiscard]] Cone rising(double value) const;

  private:
    // The highest y at this x.
    [[nodiscard]] double top(double x, double value) const;
    [[nodiscard]] double best_on(double from, double to, double wx, double wy, double value) const;

    bool product_ = false;
    double x_ = 0, y_ = 0, power_ = 0;  // coefficients, or exponents with power spread over both
    double scale_ = 1;                  // of a product
    double most_x_ = 0, most_y_ = 0, most_power_ = 0;  // limits; infinite where there is none
    double from_ = 0, to_ = 0, least_y_ = 0;
};

}  // namespace viridian::search
