#include "viridian/pipeline/profile/curve.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::pipeline {
namespace {

struct Vertex {
    Nanoseconds time;
    double cost;  // joules, waiting power already taken off
    int point;
};

constexpr double steepest_nanowatts = 1e15;  // a megawatt: no unit's last nanosecond is worth more

// Slope of the line from the slower vertex to the faster one, in joules per nanosecond saved.
double slope(const Vertex& slow, const Vertex& fast) {
    return (fast.cost - slow.cost) / static_cast<double>(slow.time - fast.time);
}

}  // namespace

Nanoseconds to_nanoseconds(Seconds time) { return std::llround(time.value * 1e9); }

Joules to_joules(Int128 attojoules) {
    return Joules(static_cast<double>(static_cast<long double>(attojoules) * 1e-18L));
}

std::string to_text(Int128 number) {
    const bool negative = number < 0;
    std::string text;
    do {
        const int digit = static_cast<int>(number % 10);
        text.push_back(static_cast<char>('0' + (negative ? -digit : digit)));
        number /= 10;
    } while (number != 0);
    if (negative) text.push_back('-');
    std::reverse(text.begin(), text.end());
    return text;
}

Curve make_curve(std::span<const Point> points, Watts wait) {
    std::vector<Vertex> vertices;  // fastest first
    for (std::size_t i = points.size(); i-- > 0;) {
        const Nanoseconds time = to_nanoseconds(points[i].time);
        const double cost = (points[i].energy - wait * points[i].time).value;
        if (!vertices.empty() && vertices.back().time == time) {  // equal times: the cheaper clock
            if (cost < vertices.back().cost) vertices.back() = {time, cost, static_cast<int>(i)};
            continue;
        }
        vertices.push_back({time, cost, static_cast<int>(i)});
    }
    std::vector<Vertex> hull;  // fastest first; costs fall ever more slowly
    for (const Vertex& v : vertices) {
        if (!hull.empty() && v.cost >= hull.back().cost) continue;  // slower and dearer
        while (hull.size() >= 2 && slope(v, hull.back()) >= slope(hull.back(), hull[hull.size() - 2]))
            hull.pop_back();
        hull.push_back(v);
    }
    Curve curve;
    curve.wait = wait;
    curve.points.assign(points.begin(), points.end());
    std::reverse(hull.begin(), hull.end());
    for (std::size_t j = 0; j < hull.size(); ++j) {
        if (j > 0) {
            // Joules per nanosecond are gigawatts: 1e18 nanowatts each. Capped, so that sums over ranks fit.
            const auto nanowatts =
                std::llround(std::min(slope(hull[j - 1], hull[j]) * 1e18, steepest_nanowatts));
            const std::int64_t before = curve.slope.empty() ? 0 : curve.slope.back();
            curve.slope.push_back(
                std::max<std::int64_t>(nanowatts, before + 1));  // equal after rounding: still convex
        }
        curve.duration.push_back(hull[j].time);
        curve.point.push_back(hull[j].point);
    }
    // The cost is anchored at the fastest vertex, which every plan at the fastest deadline shares.
    curve.slowest_cost = static_cast<Int128>(static_cast<long double>(hull.back().cost) * 1e18L);
    for (std::size_t j = 0; j + 1 < curve.duration.size(); ++j)
        curve.slowest_cost -=
            static_cast<Int128>(curve.slope[j]) * (curve.duration[j] - curve.duration[j + 1]);
    return curve;
}

Curve fixed_curve(Nanoseconds time, Watts wait) {
    Curve curve;
    curve.duration = {time};
    curve.point = {-1};
    curve.wait = wait;
    return curve;  // it waits while it reduces: no cost above waiting
}

std::size_t Curve::segment(Nanoseconds time) const {
    std::size_t j = 0;
    while (j + 2 < duration.size() && time < duration[j + 1]) ++j;
    return j;
}

Int128 Curve::cost(Nanoseconds time) const {
    Int128 total = slowest_cost;
    for (std::size_t j = 0; j + 1 < duration.size() && time < duration[j]; ++j)
        total += static_cast<Int128>(slope[j]) * (duration[j] - std::max(time, duration[j + 1]));
    return total;
}

Joules Curve::energy(Nanoseconds time) const {
    if (point[0] < 0) return wait * to_seconds(slowest());
    const auto measured = [&](std::size_t j) { return points[static_cast<std::size_t>(point[j])].energy; };
    if (time >= slowest()) return measured(0);
    if (time <= fastest()) return measured(duration.size() - 1);
    const std::size_t j = segment(time);
    const double share =
        static_cast<double>(time - duration[j + 1]) / static_cast<double>(duration[j] - duration[j + 1]);
    return measured(j) * share + measured(j + 1) * (1 - share);
}

}  // namespace viridian::pipeline
