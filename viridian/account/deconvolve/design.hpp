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

    struct At {  // an instant as a mix of `knot` and the knot after it
        std::size_t knot = 0;
        double left = 0.0, right = 0.0;  // their weights, which add up to 1
    };
    // Returns the mix at `time_ns` after `begin`. There must be knots.
    [[nodiscard]] At at(double time_ns) const;
};
// Returns a drift with a knot about every ten seconds, at most 33 in all, or without knots if the span is
// shorter than thirty seconds.
[[nodiscard]] Drift make_drift(Nanoseconds begin, Nanoseconds end);

// Columns gives the index of each unknown.
struct Columns {
    std::size_t kinds = 0, knots = 0, slopes = 0;  // slopes: 0, 1 (shift) or 2 (shift, window)
    [[nodiscard]] std::size_t kind(std::size_t k) const { return 1 + k; }
    [[nodiscard]] std::size_t knot(std::size_t m) const { return 1 + kinds + m; }
    [[nodiscard]] std::size_t slope(std::size_t i) const { return 1 + kinds + knots + i; }
    [[nodiscard]] std::size_t size() const { return 1 + kinds + knots + slopes; }
};

// A Row is one window's equation: sparse coefficients, and the mean power that they have to explain.
struct Row {
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
    const Occupancy* occupancy = nullptr;  // must outlive the design
    Drift drift;
    double centre_watts = 0.0;  // the coefficient of the base is relative to this

    // Calls `take(index, row)` for every window that lies within the trace if `sensor` made the readings.
    // `slopes` is the number of slope columns (0 to 2), and `theta` holds the coefficients at which slopes
    // are taken; it may be empty without slopes.
    void visit(std::span<const Window> windows, const Sensor& sensor, std::span<const double> theta,
               std::size_t slopes, const std::function<void(std::size_t, const Row&)>& take) const;
    [[nodiscard]] Columns columns(std::size_t slopes) const {
        return {occupancy->kinds(), drift.knots, slopes};
    }
};

// Normal holds the sums X'X, X'y and y'y over some windows, which are all that a fit needs.
struct Normal {
    Symmetric xx;
    std::vector<double> xy;
    double yy = 0.0;
    std::size_t count = 0;

    explicit Normal(std::size_t size = 0) : xx(size), xy(size) {}
    void add(const Row& row);
    void add(const Normal& other, double factor);  // 1 adds the other's windows, -1 removes them
    // Returns the sum of squared residuals for the coefficients `theta`.
    [[nodiscard]] double misfit(std::span<const double> theta) const;
};

}  // namespace viridian::account
