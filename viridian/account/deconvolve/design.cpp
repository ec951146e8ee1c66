#include "viridian/account/deconvolve/design.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace viridian::account {
namespace {

constexpr double knot_spacing_ns = 10e9;  // thermal drift takes tens of seconds
constexpr double slope_step_ns = 10e3;    // finite difference: half the shortest operation

// Predicted energy (W ns) since the first leaf, without drift, and instance time of each kind.
class Predictor {
  public:
    Predictor(const Occupancy& occupancy, std::span<const double> theta)
        : cursor_(occupancy), occupancy_(&occupancy), theta_(theta) {}

    double energy(Nanoseconds time) {
        cursor_.seek(time);
        double sum = theta_[0] * static_cast<double>(time - occupancy_->begin());
        for (std::uint32_t k = 0; k < occupancy_->kinds(); ++k)
            sum += theta_[1 + k] * static_cast<double>(cursor_.until(k));
        return sum;
    }

  private:
    Occupancy::Cursor cursor_;
    const Occupancy* occupancy_;
    std::span<const double> theta_;
};

}  // namespace

Drift::At Drift::at(double time_ns) const {
    const double position = std::clamp(time_ns / spacing_ns, 0.0, static_cast<double>(knots - 1));
    const auto knot = std::min(static_cast<std::size_t>(position), knots - 2);
    const double right = position - static_cast<double>(knot);
    return {knot, 1.0 - right, right};
}

Drift make_drift(Nanoseconds begin, Nanoseconds end) {
    const auto length = static_cast<double>(end - begin);
    if (length < 3.0 * knot_spacing_ns) return {};
    const std::size_t pieces = std::min<std::size_t>(32, static_cast<std::size_t>(length / knot_spacing_ns));
    return {begin, length / static_cast<double>(pieces), pieces + 1};
}

void Design::visit(std::span<const Window> windows, const Sensor& sensor, std::span<const double> theta,
                   std::size_t slopes, const std::function<void(std::size_t, const Row&)>& take) const {
    const std::uint32_t kinds = occupancy->kinds();
    const Columns columns = this->columns(slopes);
    Occupancy::Cursor cursor(*occupancy);
    std::vector<std::int64_t> before(kinds), after(kinds);
    Nanoseconds after_time = INT64_MIN;
    std::optional<Predictor> at_begin, at_end;
    if (slopes > 0) {
        at_begin.emplace(*occupancy, theta);
        at_end.emplace(*occupancy, theta);
    }
    const auto shift = static_cast<Nanoseconds>(std::llround(sensor.shift_ns));
    const auto margin = slopes > 0 ? static_cast<Nanoseconds>(slope_step_ns) : 0;
    Row row;
    for (std::size_t j = 0; j < windows.size(); ++j) {
        const Nanoseconds length = windows[j].length > 0
                                       ? windows[j].length
                                       : static_cast<Nanoseconds>(std::llround(sensor.window_ns));
        const Nanoseconds end = windows[j].end - shift;
        const Nanoseconds begin = end - length;
        if (length <= 0 || begin - margin < occupancy->begin() || end + margin > occupancy->end()) continue;
        if (begin == after_time) {
            std::swap(before, after);  // abutting windows share an edge
        } else {
            cursor.seek(begin);
            for (std::uint32_t k = 0; k < kinds; ++k) before[k] = cursor.until(k);
        }
        cursor.seek(end);
        after_time = end;
        const double scale = 1.0 / static_cast<double>(length);
        row.clear();
        row.add(0, 1.0);
        for (std::uint32_t k = 0; k < kinds; ++k) {
            after[k] = cursor.until(k);
            if (after[k] != before[k])
                row.add(columns.kind(k), static_cast<double>(after[k] - before[k]) * scale);
        }
        if (drift.knots > 0) {
            const Drift::At at =
                drift.at(0.5 * static_cast<double>((begin - drift.begin) + (end - drift.begin)));
            row.add(columns.knot(at.knot), at.left);
            row.add(columns.knot(at.knot + 1), at.right);
        }
        if (slopes > 0) {
            // Mean power changes by (p(begin) - p(end)) / length per nanosecond of shift.
            const double h = slope_step_ns;
            const double left_low = at_begin->energy(begin - margin),
                         left_high = at_begin->energy(begin + margin);
            const double right_low = at_end->energy(end - margin), right_high = at_end->energy(end + margin);
            const double power_left = (left_high - left_low) / (2 * h),
                         power_right = (right_high - right_low) / (2 * h);
            row.add(columns.slope(0), (power_left - power_right) * scale);
            // A longer mean reaches further back: (p(begin) - mean) / length.
            if (slopes > 1) {
                const double mean = 0.5 * ((right_low + right_high) - (left_low + left_high)) * scale;
                row.add(columns.slope(1), (power_left - mean) * scale);
            }
        }
        row.watts = windows[j].watts - centre_watts;
        take(j, row);
    }
}

void Normal::add(const Row& row) {
    const auto* const columns = row.columns.data();
    const double* const values = row.values.data();
    for (std::size_t i = 0; i < row.columns.size(); ++i) {  // columns ascend
        double* const line = &xx(columns[i], 0);
        for (std::size_t j = 0; j <= i; ++j) line[columns[j]] += values[i] * values[j];
        xy[columns[i]] += values[i] * row.watts;
    }
    yy += row.watts * row.watts;
    ++count;
}

void Normal::add(const Normal& other, double factor) {
    xx.add(other.xx, factor);
    for (std::size_t i = 0; i < xy.size(); ++i) xy[i] += factor * other.xy[i];
    yy += factor * other.yy;
    count = factor > 0 ? count + other.count : count - other.count;
}

double Normal::misfit(std::span<const double> theta) const {
    double cross = 0.0;
    for (std::size_t i = 0; i < theta.size(); ++i) cross += xy[i] * theta[i];
    return std::max(0.0, yy - 2.0 * cross + xx.quadratic(theta));
}

}  // namespace viridian::account
