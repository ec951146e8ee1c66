#pragma once
// Draws a line plot as a standalone SVG, with round ticks, a legend and one colour per series.
#include <string>
#include <vector>

namespace viridian::report {

struct Series {
    std::string name;
    std::vector<double> x, y;
    bool steps = false;  // each value holds until the next x, instead of straight lines
    bool faint = false;  // it is background: grey and drawn first
};

struct Plot {
    std::string title, x_label, y_label;
    std::vector<Series> series;
};

// Returns the SVG of `plot`. A series of more than 20,000 points is thinned by keeping every n-th.
[[nodiscard]] std::string svg_of(const Plot& plot);

}  // namespace viridian::report
