// Perseus as lowtime runs it. Phillips and Dessouky's cuts are the breakpoints of the same parametric flow on
// the quantised costs, so that solver is used; the number of one-quantum cuts is what lowtime would have
// taken.
#include <algorithm>
#include <cmath>

#include "viridian/pipeline/exact/parametric_flow.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {
namespace {

struct Exponential {
    double a = 0, b = 0, c = 0;
    double error = 0;
    [[nodiscard]] double operator()(double t) const { return a * std::exp(b * t) + c; }
};

// a and c by least squares for one b.
Exponential fit_at(double b, std::span<const double> t, std::span<const double> y) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const double x = std::exp(b * t[i]);
        n += 1, sx += x, sy += y[i], sxx += x * x, sxy += x * y[i];
    }
    Exponential f{0, b, 0, 0};
    const double determinant = n * sxx - sx * sx;
    f.a = std::abs(determinant) > 1e-300 ? std::max(0.0, (n * sxy - sx * sy) / determinant) : 0;
    f.c = (sy - f.a * sx) / n;
    for (std::size_t i = 0; i < t.size(); ++i) f.error += (f(t[i]) - y[i]) * (f(t[i]) - y[i]);
    return f;
}

Exponential fit(std::span<const double> t, std::span<const double> y) {
    const double span = *std::ranges::max_element(t) - *std::ranges::min_element(t);
    Exponential best = fit_at(-1 / std::max(span, 1e-12), t, y);
    for (int i = 0; i <= 200; ++i) {  // decay over a hundredth of the range to ten times it
        const Exponential f = fit_at(-std::pow(10, -1 + 3.0 * i / 200) / std::max(span, 1e-12), t, y);
        if (f.error < best.error) best = f;
    }
    return best;
}

// One vertex per quantum, costs from the fit; times in quanta, rounded down as lowtime does.
Curve quantised(const Curve& curve, Nanoseconds quantum) {
    Curve out;
    out.wait = curve.wait;
    const Nanoseconds fast = curve.fastest() / quantum, slow = curve.slowest() / quantum;
    if (fast == slow) {
        out.duration = {fast};
        out.point = {-1};
        return out;
    }
    std::vector<double> t, y;
    for (const int p : curve.point) {
        t.push_back(curve.points[at(p)].time.value);
        y.push_back((curve.points[at(p)].energy - curve.wait * curve.points[at(p)].time).value);
    }
    const Exponential cost = fit(t, y);
    const double step = to_seconds(quantum).value;
    std::int64_t before = 0;
    for (Nanoseconds q = slow; q >= fast; --q) {
        out.duration.push_back(q);
        out.point.push_back(-1);
        if (q == fast) break;
        const double saved = cost(static_cast<double>(q - 1) * step) - cost(static_cast<double>(q) * step);
        before = std::max<std::int64_t>(before + 1, std::llround(std::min(saved * 1e12, 1e15)));
        out.slope.push_back(before);
    }
    return out;
}

}  // namespace

Result<PlannerAnswer> perseus(const Network& network, Nanoseconds deadline, Nanoseconds quantum) {
    constexpr std::int64_t most_vertices = 1 << 22;
    Network coarse = network;
    std::int64_t vertices = 0;
    for (const Curve& curve : network.curves) vertices += (curve.slowest() - curve.fastest()) / quantum + 1;
    if (vertices > most_vertices || network.size() > (1 << 19))
        return fail(ErrorCode::limit_exceeded, "give a larger --quantum", "{} cost steps are too many",
                    vertices);
    for (Curve& curve : coarse.curves) curve = quantised(curve, quantum);
    for (Nanoseconds& delay : coarse.delay) delay /= quantum;
    if (!Residual::fits(coarse))
        return fail(ErrorCode::limit_exceeded, "check the energies and times of the highest clocks",
                    "the energy per second of the highest clocks is too large to plan");

    ParametricFlow flow(coarse);
    const Nanoseconds slowest = flow.time();
    while (flow.advance(deadline / quantum)) {
    }
    const FlowSolution promised = flow.solution();
    PlannerAnswer answer;
    answer.iterations = static_cast<int>(slowest - flow.time());
    std::vector<int> level(at(network.size()), -1);
    for (int u = 0; u < network.size(); ++u) {
        const Curve& curve = network.curve(u);
        if (curve.points.empty()) continue;
        const Nanoseconds room = promised.finish[at(u)] - promised.start[at(u)];
        level[at(u)] = curve.point.back();
        for (std::size_t v = curve.point.size(); v-- > 0;)
            if (curve.duration[v] / quantum <= room) level[at(u)] = curve.point[v];
    }
    answer.assignment = at_levels(network, std::move(level));
    return answer;
}

}  // namespace viridian::pipeline
