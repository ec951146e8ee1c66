#include "viridian/search/objective/level_set.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

LevelSet::LevelSet(const Objective& objective, const Metrics& start, Metric x, double from, double to,
                   double least_y)
    : product_(objective.form == Objective::Form::product),
      most_x_(infinity),
      most_y_(infinity),
      most_power_(infinity),
      from_(from),
      to_(to),
      least_y_(least_y) {
    for (const Objective::Term& term : objective.terms) {
        const double unit = measure(term.metric, start);
        if (product_) {
            if (unit > 0) scale_ /= std::pow(unit, term.factor);
            if (term.metric != Metric::power) (term.metric == x ? x_ : y_) += term.factor;
            if (term.metric == Metric::power) {
                y_ += term.factor;
                x_ -= term.factor;
            }
        } else {
            const double weight = objective.terms.size() == 1 || unit <= 0 ? term.factor : term.factor / unit;
            (term.metric == Metric::power ? power_ : term.metric == x ? x_ : y_) += weight;
        }
    }
    if (const auto& limit = objective.limit) {
        const double most = limit->factor * measure(limit->metric, start);
        (limit->metric == Metric::power ? most_power_ : limit->metric == x ? most_x_ : most_y_) = most;
    }
    to_ = std::min(to_, most_x_);
    from_ = std::min(from_, to_);
}

double LevelSet::value(double x, double y) const {
    if (x > most_x_ || y > most_y_ || y > most_power_ * x) return infinity;
    if (product_) return scale_ * std::pow(x, x_) * std::pow(y, y_);
    return x_ * x + y_ * y + (power_ > 0 ? power_ * y / x : 0);
}

double LevelSet::least_in(double from, double to, double y) const {
    if (from > most_x_ || y > most_y_ || y > most_power_ * to) return infinity;
    if (product_) return scale_ * std::pow(x_ >= 0 ? from : to, x_) * std::pow(y, y_);
    return x_ * from + y_ * y + power_ * y / to;
}

double LevelSet::least_beyond(double from, double y, double ratio) const {
    y = std::max(y, ratio * from);
    if (from > most_x_ || y > most_y_ || ratio > most_power_) return infinity;
    if (product_) {
        // Falling in x, it is least where y begins to rise with x.
        if (x_ >= 0) return scale_ * std::pow(from, x_) * std::pow(y, y_);
        return ratio > 0 && x_ + y_ >= 0 ? scale_ * std::pow(y / ratio, x_) * std::pow(y, y_) : 0;
    }
    return x_ * from + y_ * y + power_ * ratio;
}

double LevelSet::top(double x, double value) const {
    double most = most_y_;
    if (most_power_ < infinity) most = std::min(most, most_power_ * x);
    if (product_) {
        if (y_ > 0) return std::min(most, std::pow(value / scale_ * std::pow(x, -x_), 1 / y_));
        return scale_ * std::pow(x, x_) <= value ? most : -infinity;
    }
    const double slope = y_ + (power_ > 0 ? power_ / x : 0);
    if (slope > 0) return std::min(most, (value - x_ * x) / slope);
    return x_ * x <= value ? most : -infinity;
}

// Without limits the top is concave under sums, and either concave or convex under products.
double LevelSet::best_on(double from, double to, double wx, double wy, double value) const {
    const auto reach = [&](double x) {
        const double y = top(x, value);
        return wy > 0 ? wx * x + wy * y : wx * x;
    };
    double best = std::max(reach(from), reach(to));
    for (int step = 0; step < 80; ++step) {
        const double left = from + (to - from) / 3, right = to - (to - from) / 3;
        const double at_left = reach(left), at_right = reach(right);
        best = std::max({best, at_left, at_right});
        (at_left < at_right ? from : to) = at_left < at_right ? left : right;
    }
    return best + 1e-12 * std::abs(best);
}

double LevelSet::farthest(double wx, double wy, double value) const {
    double from = from_, to = to_;
    // Under an objective that rises with x, points of this value end where even the least y is too high.
    const bool rises = product_ ? x_ >= 0 : power_ == 0;
    if (rises && most_power_ == infinity && top(to, value) < least_y_ && top(from, value) >= least_y_) {
        double low = from, high = to;
        for (int step = 0; step < 80; ++step) {
            const double middle = low + (high - low) / 2;
            (top(middle, value) >= least_y_ ? low : high) = middle;
        }
        to = high;
    }
    // Where a limit begins or ends to bind, the two parts are looked at by themselves.
    const auto binds = [&](double x) {
        const double cap = std::min(most_y_, most_power_ < infinity ? most_power_ * x : infinity);
        return cap < infinity && top(x, value) >= cap;
    };
    if (binds(from) == binds(to)) return best_on(from, to, wx, wy, value);
    double low = from, high = to;
    for (int step = 0; step < 80; ++step) {
        const double middle = low + (high - low) / 2;
        (binds(middle) == binds(from) ? low : high) = middle;
    }
    return std::max(best_on(from, high, wx, wy, value), best_on(low, to, wx, wy, value));
}

LevelSet::Cone LevelSet::rising(double value) const {
    const double most_y = farthest(0, 1, value);
    // The objective's own rise in x for one in y: over the box, by intervals.
    double low = 0, high = infinity;
    if (product_) {
        if (y_ > 0) {
            low = x_ / y_ * (x_ >= 0 ? least_y_ / to_ : most_y / from_);
            high = x_ / y_ * (x_ >= 0 ? most_y / from_ : least_y_ / to_);
        } else {
            low = infinity;
        }
    } else {
        const double least_up = y_ + power_ / to_, most_up = y_ + power_ / from_;
        const double least_right = x_ - power_ * most_y / (from_ * from_);
        const double most_right = x_ - power_ * least_y_ / (to_ * to_);
        if (least_up > 0) {
            low = least_right / (least_right < 0 ? least_up : most_up);
            high = most_right / (most_right > 0 ? least_up : most_up);
        } else {
            low = infinity;
        }
    }
    if (most_x_ < infinity) high = infinity;
    if (most_y_ < infinity) {
        low = std::min(low, 0.0);
        high = std::max(high, 0.0);
    }
    if (most_power_ < infinity) {
        low = std::min(low, -most_power_);
        high = std::max(high, -most_power_);
    }
    // A little wider, so that rounding cannot matter.
    const auto widen = [](double slope, double by) { return slope + by * std::abs(slope); };
    Cone cone{{1, 0}, {1, 0}};
    if (low < infinity) cone.first = {low == 0 ? 0 : widen(low, -1e-3), 1};
    if (high < infinity) cone.second = {widen(high, 1e-3), 1};
    return cone;
}

}  // namespace viridian::search
