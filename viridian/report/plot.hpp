#pragma once
// A plot of lines as a standalone SVG: axes with round ticks, a legend, one colour a series.
#include <string>
#include <vector>

namespace viridian::report {

struct Series {
    std::string name;
    std::vector<double> x, y;
    bool steps = false;  // a value holds until the next
    bool faint = false;  // background: grey, drawn first
};

struct Plot {
    std::string title, x_label, y_label;
    std::vector<Series> series;
};

// Above 20,000 points a series is thinned by keeping every n-th.
[[nodiscard]] std::string svg_of(const Plot& plot);

}  // namespace viridian::report
