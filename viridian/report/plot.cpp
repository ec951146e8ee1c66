#include "viridian/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace viridian::report {
namespace {

constexpr double width = 860, height = 340, left = 64, right = 12, top = 44, bottom = 44;
constexpr std::size_t most_points = 20'000;
constexpr std::array<const char*, 8> colours = {"#1b6f4b", "#c2542d", "#3f63a8", "#9a6fb0",
                                                "#b08a1e", "#2f8f9d", "#8c3b55", "#5c6b66"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return out;
}

struct Axis {
    double low = HUGE_VAL, high = -HUGE_VAL, tick = 1.0;
    void hold(const std::vector<double>& values) {
        for (const double v : values)
            if (std::isfinite(v)) {
                low = std::min(low, v);
                high = std::max(high, v);
            }
    }
    void settle(bool from_zero) {
        if (!(low <= high)) low = 0.0, high = 1.0;
        if (from_zero && low > 0.0) low = 0.0;
        if (high - low < 1e-12) high = low + 1.0;
        const double raw = (high - low) / 6.0, power = std::pow(10.0, std::floor(std::log10(raw)));
        tick = raw > 5 * power ? 10 * power : raw > 2 * power ? 5 * power : raw > power ? 2 * power : power;
    }
};

}  // namespace

std::string svg_of(const Plot& plot) {
    Axis x, y;
    for (const Series& series : plot.series) {
        x.hold(series.x);
        y.hold(series.y);
    }
    x.settle(false);
    y.settle(true);
    const auto across = [&](double v) {
        return left + (v - x.low) / (x.high - x.low) * (width - left - right);
    };
    const auto down = [&](double v) {
        return height - bottom - (v - y.low) / (y.high - y.low) * (height - top - bottom);
    };
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\">"
        "<style>text{{font:11px system-ui,sans-serif;fill:#1c2321}}.grid{{stroke:#dfe5e1}}"
        "path{{fill:none;stroke-width:1.2}}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        "<text x=\"{}\" y=\"16\" style=\"font-weight:600\">{}</text>\n",
        width, height, left, escaped(plot.title));
    for (double v = std::ceil(x.low / x.tick) * x.tick; v <= x.high + 1e-9 * x.tick; v += x.tick)
        svg += fmt::format(
            "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
            "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.6g}</text>\n",
            across(v), top, height - bottom, height - bottom + 14, std::abs(v) < 1e-9 * x.tick ? 0.0 : v);
    for (double v = std::ceil(y.low / y.tick) * y.tick; v <= y.high + 1e-9 * y.tick; v += y.tick)
        svg += fmt::format(
            "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>"
            "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>\n",
            down(v), left, width - right, left - 6, down(v) + 4, std::abs(v) < 1e-9 * y.tick ? 0.0 : v);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       (left + width - right) / 2, height - 8, escaped(plot.x_label));
    svg += fmt::format("<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                       (top + height - bottom) / 2, escaped(plot.y_label));
    double legend = left;
    std::size_t colour = 0;
    for (const bool faint : {true, false})
        for (const Series& series : plot.series) {
            if (series.faint != faint) continue;
            const char* stroke = faint ? "#c4ccc7" : colours.at(colour++ % colours.size());
            const std::size_t count = std::min(series.x.size(), series.y.size());
            const std::size_t stride = count / most_points + 1;
            std::string path;
            double last = 0.0;
            for (std::size_t i = 0; i < count; i += stride) {
                if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
                if (path.empty())
                    path = fmt::format("M{:.1f} {:.1f}", across(series.x[i]), down(series.y[i]));
                else if (series.steps)
                    path += fmt::format("H{:.1f}V{:.1f}", across(series.x[i]), down(series.y[i]));
                else
                    path += fmt::format("L{:.1f} {:.1f}", across(series.x[i]), down(series.y[i]));
                last = series.y[i];
            }
            if (series.steps && count > 0)
                path += fmt::format("H{:.1f}V{:.1f}", across(series.x[count - 1]), down(last));
            if (!path.empty()) svg += fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", stroke, path);
            svg += fmt::format(
                "<rect x=\"{0:.0f}\" y=\"26\" width=\"12\" height=\"3\" fill=\"{1}\"/>"
                "<text x=\"{2:.0f}\" y=\"32\">{3}</text>\n",
                legend, stroke, legend + 16, escaped(series.name));
            legend += 30.0 + 6.2 * static_cast<double>(series.name.size());
        }
    return svg + "</svg>\n";
}

}  // namespace viridian::report
