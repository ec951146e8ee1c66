#include "viridian/account/deconvolve/identify.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::account {
namespace {

std::span<const Window> middle(std::span<const Window> windows, std::size_t count) {
    if (windows.size() <= count) return windows;
    return windows.subspan((windows.size() - count) / 2, count);
}

Normal normal_at(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                 std::span<const double> theta, std::size_t slopes) {
    Normal normal(design.columns(slopes).size());
    design.visit(windows, sensor, theta, slopes, [&](std::size_t, const Row& row) { normal.add(row); });
    return normal;
}

// Misfit per window under a light ridge: comparable between shifts, cheap. Every kind is held to the others'
// mean as if seen in one per cent of the windows.
struct Light {
    double misfit = HUGE_VAL;
    std::vector<double> theta;
};
Light light_fit(const Normal& normal, const Columns& columns) {
    if (normal.count < 2 * columns.size() / 3 + 8) return {};
    Symmetric matrix = normal.xx;
    double trace = 0.0;
    for (std::size_t k = 0; k < columns.kinds; ++k) trace += matrix(columns.kind(k), columns.kind(k));
    const double ratio = 0.003 * trace / std::max<double>(1.0, static_cast<double>(columns.kinds));
    for (std::size_t i = 0; i + 1 < columns.kinds; ++i)  // idleness, the last kind, is free
        for (std::size_t j = 0; j <= i; ++j)
            matrix(columns.kind(i), columns.kind(j)) +=
                ratio * ((i == j ? 1.0 : 0.0) - 1.0 / static_cast<double>(columns.kinds));
    for (std::size_t i = 0; i < columns.size(); ++i)
        matrix(i, i) += 1e-9 * (trace + normal.xx(0, 0)) / static_cast<double>(columns.size()) + 1e-300;
    for (std::size_t m = 0; m < columns.knots; ++m)
        matrix(columns.knot(m), columns.knot(m)) += 0.01 * static_cast<double>(normal.count);
    Light light;
    light.theta = Cholesky(std::move(matrix)).solve(normal.xy);
    light.misfit = normal.misfit(light.theta) / static_cast<double>(normal.count);
    return light;
}

std::vector<double> window_candidates(const Sensor& start) {
    if (start.counter) return {start.window_ns};
    if (start.window_ns > 0) return {start.window_ns, 25e6};
    const double period = start.period_ns;
    std::vector<double> candidates = {period, 0.5 * period, 0.25 * period};
    for (const double usual : {25e6, 100e6, 1000e6})
        if (std::none_of(candidates.begin(), candidates.end(),
                         [&](double c) { return std::abs(c - usual) < 0.1 * usual; }))
            candidates.push_back(usual);
    return candidates;
}

struct Spot {
    double window_ns, shift_ns, misfit;
    double evidence = 0.0;   // of the full fit, against a constant power
    double deviation = 0.0;  // of the shift
};

// Log odds: those below the best by so much on part of the data are given up; those within so much of the
// best on all of it are as likely as one in twenty.
constexpr double hopeless = 30.0;
constexpr double doubtful = 3.0;

// Log evidence over that of a constant power, per window times all windows: windows at the ends of the trace
// are in or out as the shift goes.
double evidence(const Design& design, std::span<const Window> windows, Sensor sensor, const Spot& spot) {
    sensor.window_ns = spot.window_ns;
    sensor.shift_ns = spot.shift_ns;
    const Columns columns = design.columns(0);
    const Normal normal = normal_at(design, windows, sensor, {}, 0);
    if (normal.count < 2 * columns.size() / 3 + 8) return -HUGE_VAL;
    const double count = static_cast<double>(normal.count);
    const double mean = normal.xy[0] / count;
    const double constant = (normal.yy - mean * normal.xy[0]) / count;
    const double gain = fit(normal, columns, mean + design.centre_watts).log_evidence +
                        0.5 * (count - 1) * std::log(constant);
    return gain * static_cast<double>(windows.size()) / count;
}

// From `spot` downhill in shift (and window), all coefficients refitted at each step.
Spot descend(const Design& design, std::span<const Window> windows, Sensor sensor, Spot spot, int rounds,
             double& deviation) {
    const std::size_t slopes = sensor.counter ? 1 : 2;
    const Columns columns = design.columns(slopes);
    const Columns plain = design.columns(0);
    sensor.shift_ns = spot.shift_ns;
    sensor.window_ns = spot.window_ns;
    Light light = light_fit(normal_at(design, windows, sensor, {}, 0), plain);
    Spot best{spot.window_ns, spot.shift_ns, light.misfit, 0.0, 0.0};
    double limit = 60e3;  // ns a step: within the shortest operations' reach
    for (int round = 0; round < rounds && !light.theta.empty(); ++round) {
        const Normal normal = normal_at(design, windows, sensor, light.theta, slopes);
        const Light step = light_fit(normal, columns);
        if (step.theta.empty()) break;
        const double move = std::clamp(step.theta[columns.slope(0)], -limit, limit);
        const double stretch = slopes > 1 ? std::clamp(step.theta[columns.slope(1)], -limit, limit) : 0.0;
        const double curvature = normal.xx(columns.slope(0), columns.slope(0));
        if (curvature > 0.0) deviation = std::sqrt(step.misfit / curvature);
        Sensor next = sensor;
        next.shift_ns += move;
        next.window_ns = sensor.counter ? sensor.window_ns : std::max(1e5, sensor.window_ns + stretch);
        const Light there = light_fit(normal_at(design, windows, next, {}, 0), plain);
        if (there.misfit < best.misfit) {
            best = {next.window_ns, next.shift_ns, there.misfit, 0.0, 0.0};
            sensor = next;
            light = there;
            if (std::abs(move) < 200.0 && std::abs(stretch) < 200.0) break;
        } else {
            limit *= 0.3;
            if (limit < 500.0 || std::abs(move) < 200.0) break;
        }
    }
    return best;
}

}  // namespace

Identified identify(const Design& design, std::span<const Window> windows, Sensor start,
                    const Search& search) {
    Identified out{start, HUGE_VAL, HUGE_VAL, false, {}};
    const std::span<const Window> few =
        middle(windows, start.counter ? search.coarse_windows : search.coarse_windows / 3);
    const std::span<const Window> many = middle(windows, search.fine_windows);
    const double reach = search.widest.value * 1e9;
    const double highest = start.counter ? reach : reach + start.period_ns;
    std::vector<Spot> spots;
    const Columns plain = design.columns(0);
    const double step = start.counter ? 50e3 : 100e3;
    for (const double window_ns : window_candidates(start)) {
        Sensor sensor = start;
        sensor.window_ns = window_ns;
        for (double shift = -reach; shift <= highest; shift += step) {
            sensor.shift_ns = shift;
            const Light light = light_fit(normal_at(design, few, sensor, {}, 0), plain);
            if (!light.theta.empty()) spots.push_back({window_ns, shift, light.misfit, 0.0, 0.0});
        }
    }
    if (spots.empty()) return out;
    std::sort(spots.begin(), spots.end(), [](const Spot& a, const Spot& b) { return a.misfit < b.misfit; });
    out.typical = spots[spots.size() / 2].misfit;
    // The best few that are not neighbours of better ones, each followed downhill.
    std::vector<Spot> tops;
    for (const Spot& spot : spots) {
        const bool near = std::any_of(tops.begin(), tops.end(), [&](const Spot& top) {
            return top.window_ns == spot.window_ns && std::abs(top.shift_ns - spot.shift_ns) < 4.5 * step;
        });
        if (!near) tops.push_back(spot);
        if (tops.size() == 8) break;
    }
    // Downhill from each on part of the data; the light ridge's misfit does not choose among them, the full
    // fit's evidence does: wrong shifts a few operations away can look as good to the former.
    double deviation = 0.0;
    for (Spot& top : tops) {
        top = descend(design, few, start, top, 6, deviation);
        top.evidence = evidence(design, few, start, top);
    }
    const auto better = [](const Spot& a, const Spot& b) { return a.evidence > b.evidence; };
    std::sort(tops.begin(), tops.end(), better);
    std::erase_if(tops, [&](const Spot& top) { return top.evidence < tops.front().evidence - hopeless; });
    for (Spot& top : tops) {
        top = descend(design, many, start, top, 12, deviation);
        top.evidence = evidence(design, many, start, top);
        top.deviation = deviation;
    }
    std::sort(tops.begin(), tops.end(), better);
    const Spot best = tops.front();
    for (const Spot& top : tops)
        if (!out.rival_ns && std::abs(top.shift_ns - best.shift_ns) > step &&
            top.evidence > best.evidence - doubtful)
            out.rival_ns = top.shift_ns;
    out.sensor.window_ns = best.window_ns;
    out.sensor.shift_ns = best.shift_ns;
    out.sensor.shift_deviation_ns = best.deviation;
    out.misfit = best.misfit;
    out.at_edge = best.shift_ns < -reach + 2 * step || best.shift_ns > highest - 2 * step;
    return out;
}

}  // namespace viridian::account
