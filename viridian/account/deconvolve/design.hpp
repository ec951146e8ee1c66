#pragma once
// Builds the linear regression behind `deconvolve`: one row for each window of the sensor, one column for
// each unknown. The mean power of a window is base + drift(t) + the sum over kinds of (instance-seconds in
// the window / length) x watts, and, if asked for, how it changes with the sensor's shift and window length.
// The columns are, in this order: base, kinds, drift knots, d/dshift, d/dwindow.
#include <functional>

#include "viridian/account/deconvolve/linear.hpp"
#include "viridian/account/deconvolve/occupancy.hpp"
#include "viridian/account/deconvolve/window.hpp"

namespace viridian::account {

// Drift is the slow change of the base: straight lines between knots, or none if there are no knots.
struct Drift {
    Nanoseconds begin = 0;
    double spacing_ns = 0.0;
    std::size_t knots = 0;

    struct At {  // weights of the two knots around an instant
        std::size_t knot = 0;
        double left = 0.0, right = 0.0;
    };
    [[nodiscard]] At at(double time_ns) const;  // since `begin`
};
[[nodiscard]] Drift make_drift(Nanoseconds begin, Nanoseconds end);

struct Columns {
    std::size_t kinds = 0, knots = 0, slopes = 0;  // slopes: 0, 1 (shift) or 2 (shift, window)
    [[nodiscard]] std::size_t kind(std::size_t k) const { return 1 + k; }
    [[nodiscard]] std::size_t knot(std::size_t m) const { return 1 + kinds + m; }
    [[nodiscard]] std::size_t slope(std::size_t i) const { return 1 + kinds + knots + i; }
    [[nodiscard]] std::size_t size() const { return 1 + kinds + knots + slopes; }
};

struct Row {  // sparse
    std::vector<std::size_t> columns;
    std::vector<double> values;
    double watts = 0.0;  // less `Design::centre_watts`
    void clear() {
        columns.clear();
        values.clear();
    }
    void add(std::size_t column, double value) {
        columns.push_back(column);
        values.push_back(value);
    }
    [[nodiscard]] double dot(std::span<const double> x) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < columns.size(); ++i) sum += values[i] * x[columns[i]];
        return sum;
    }
};

struct Design {
    const Occupancy* occupancy = nullptr;
    Drift drift;
    double centre_watts = 0.0;  // what coefficients of the base are relative to

    // Calls `take(index, row)` for every window that lies within the trace at this sensor. `theta`: the
    // coefficients at which slopes are taken; empty for no slope columns.
    void visit(std::span<const Window> windows, const Sensor& sensor, std::span<const double> theta,
               std::size_t slopes, const std::function<void(std::size_t, const Row&)>& take) const;
    [[nodiscard]] Columns columns(std::size_t slopes) const {
        return {occupancy->kinds(), drift.knots, slopes};
    }
};

// The sums X'X, X'y, y'y over some windows.
struct Normal {
    Symmetric xx;
    std::vector<double> xy;
    double yy = 0.0;
    std::size_t count = 0;

    explicit Normal(std::size_t size = 0) : xx(size), xy(size) {}
    void add(const Row& row);
    void add(const Normal& other, double factor);
    [[nodiscard]] double misfit(std::span<const double> theta) const;  // sum of squared residuals
};

}  // namespace viridian::account
