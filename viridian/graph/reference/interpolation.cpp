#include "viridian/graph/reference/interpolation.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::graph {

double cubic_kernel(double distance, double a) {
    const double x = std::abs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

double original_coordinate(const Resampling& axis, std::int64_t x) {
    const auto at = static_cast<double>(x);
    const auto length = static_cast<double>(axis.length);
    const double nominal = length * axis.scale;  // length after resizing, before it was made whole
    const std::string& how = axis.transformation;
    if (how == "asymmetric") return at / axis.scale;
    if (how == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;  // operator set 11 only
    if (how == "align_corners") return nominal == 1 ? 0 : at * (length - 1) / (nominal - 1);
    if (how == "tf_crop_and_resize")
        return nominal > 1
                   ? axis.start * (length - 1) + at * (axis.end - axis.start) * (length - 1) / (nominal - 1)
                   : 0.5 * (axis.start + axis.end) * (length - 1);
    const double half_pixel = (at + 0.5) / axis.scale - 0.5;
    if (how == "pytorch_half_pixel") return axis.resized > 1 ? half_pixel : 0;
    if (how == "half_pixel_symmetric") {
        const double adjustment = static_cast<double>(axis.resized) / nominal;
        return length / 2 * (1 - adjustment) + half_pixel;
    }
    return half_pixel;
}

namespace {

double rounded(const std::string& how, double x) {
    if (how == "floor") return std::floor(x);
    if (how == "ceil") return std::ceil(x);
    if (how == "round_prefer_ceil") return std::floor(x + 0.5);
    return std::ceil(x - 0.5);  // round_prefer_floor
}

}  // namespace

std::vector<Tap> taps_of(const Resampling& axis, std::int64_t x) {
    const double centre = original_coordinate(axis, x);
    const auto clamped = [&](double cell) {
        const auto last = static_cast<double>(axis.length - 1);
        return static_cast<std::int64_t>(std::clamp(cell, 0.0, last));
    };
    if (axis.mode == "nearest") return {{clamped(rounded(axis.nearest_mode, centre)), 1}};
    const bool cubic = axis.mode == "cubic";
    const double shrink = axis.antialias ? std::min(axis.scale, 1.0) : 1;  // widens the filter
    const double reach = (cubic ? 2 : 1) / shrink;
    std::vector<Tap> taps;
    double sum = 0;
    for (double cell = std::floor(centre - reach) + 1; cell < centre + reach; ++cell) {
        const double distance = (cell - centre) * shrink;
        double weight = cubic ? cubic_kernel(distance, axis.cubic_a) : std::max(0.0, 1 - std::abs(distance));
        const bool outside = cell < 0 || cell >= static_cast<double>(axis.length);
        if (axis.exclude_outside && outside) weight = 0;
        taps.push_back({clamped(cell), weight});
        sum += weight;
    }
    if ((axis.exclude_outside || axis.antialias) && sum != 0)
        for (Tap& tap : taps) tap.weight /= sum;
    return taps;
}

}  // namespace viridian::graph
