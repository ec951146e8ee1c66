#include "viridian/search/objective/support_lines.hpp"

#include <algorithm>

namespace viridian::search {
namespace {

constexpr double step = 1e-4;  // relative width of a strip

// Every plan's y over this stretch of x is at least this.
double lowest(const std::vector<SupportLine>& lines, double from, double to) {
    double y = 0;
    for (const SupportLine& line : lines)
        if (line.wy > 0) y = std::max(y, (line.bound - std::max(line.wx * from, line.wx * to)) / line.wy);
    return y;
}

}  // namespace

double least_above(const std::vector<SupportLine>& lines, const LevelSet& level, double from, double to) {
    double least = std::numeric_limits<double>::infinity();
    for (double x = from; x < to; x *= 1 + step)
        least = std::min(least, level.least_in(x, x * (1 + step), lowest(lines, x, x * (1 + step))));
    // Beyond, lines that do not fall leave y what they leave it at `to`, and y/x what their slope does.
    double y = 0, ratio = 0;
    for (const SupportLine& line : lines) {
        if (line.wx > 0 || !(line.wy > 0)) continue;
        y = std::max(y, (line.bound - line.wx * to) / line.wy);
        ratio = std::max(ratio, (-line.wx + std::min(line.bound / to, 0.0)) / line.wy);
    }
    return std::min(least, level.least_beyond(to, y, ratio));
}

}  // namespace viridian::search
