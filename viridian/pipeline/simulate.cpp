#include "viridian/pipeline/simulate.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/base/random.hpp"
#include "viridian/pipeline/critical_path.hpp"

namespace viridian::pipeline {
namespace {

void add_bubble(Bubbles& bubbles, Nanoseconds length, Nanoseconds usable) {
    if (length <= 0) return;
    usable = std::clamp<Nanoseconds>(usable, 0, length);
    (usable > 0 ? bubbles.usable : bubbles.unusable) += 1;
    bubbles.usable_time += to_seconds(usable);
    bubbles.unusable_time += to_seconds(length - usable);
}

// Between units with different clocks; a unit at two clocks changes inside and ends at the faster one.
std::int64_t count_switches(const Network& network, const ClockAssignment& plan, int begin, int end) {
    std::int64_t count = 0;
    double now = 0;
    const auto set = [&](double clock) {
        count += now > 0 && now != clock ? 1 : 0;
        now = clock;
    };
    for (int u = begin; u < end; ++u) {
        const Curve& curve = network.curve(u);
        if (curve.points.empty() || !plan.energy.empty()) continue;  // energies alone name no clock
        if (!plan.level.empty()) {
            set(curve.points[at(plan.level[at(u)])].clock.value);
            continue;
        }
        const Nanoseconds time = plan.duration[at(u)];
        const std::size_t j = curve.segment(time);
        if (time > curve.fastest()) set(curve.points[at(curve.point[j])].clock.value);
        if (time < curve.duration[j])
            set(curve.points[at(curve.point[std::min(j + 1, curve.point.size() - 1)])].clock.value);
    }
    return count;
}

}  // namespace

Simulation simulate(const Network& network, const ClockAssignment& plan, Nanoseconds end_at) {
    Simulation out;
    out.timing = evaluate(network, plan.duration, plan.gap);
    out.end = std::max(out.timing.makespan, end_at);
    out.slack = slack(network, plan.duration, out.timing);
    out.critical = walk_back(network, plan.duration, out.timing);
    std::reverse(out.critical.begin(), out.critical.end());
    for (int r = 0; r < network.ranks(); ++r) {
        const int begin = network.rank_begin[at(r)], end = network.rank_begin[at(r + 1)];
        Bubbles bubbles;
        Nanoseconds busy = 0, free_from = 0, room = 0;
        for (int u = begin; u < end; ++u) {
            add_bubble(bubbles, out.timing.start[at(u)] - free_from, room);
            free_from = out.timing.start[at(u)] + plan.duration[at(u)];
            room = out.slack[at(u)];
            busy += plan.duration[at(u)];
            out.units += unit_energy(network, plan, u);
        }
        add_bubble(bubbles, out.end - free_from, room);
        out.busy.push_back(to_seconds(busy));
        out.bubbles.push_back(bubbles);
        out.switches.push_back(count_switches(network, plan, begin, end));
        out.waiting += network.wait[at(r)] * to_seconds(out.end - busy);
    }
    return out;
}

DisturbedRun simulate_disturbed(const Network& network, const ClockAssignment& plan,
                                const Disturbance& disturbance) {
    DisturbedRun out;
    Random random(disturbance.seed);
    std::vector<Nanoseconds> duration(plan.duration.size());
    double time = 0, energy = 0;
    for (int run = 0; run < disturbance.runs; ++run) {
        Joules units;
        for (int r = 0; r < network.ranks(); ++r) {
            const double straggler = disturbance.straggler.empty() ? 1 : disturbance.straggler[at(r)];
            for (int u = network.rank_begin[at(r)]; u < network.rank_begin[at(r + 1)]; ++u) {
                const double noise = std::clamp(random.normal(), -3.0, 3.0) * disturbance.jitter;
                const double factor = std::max(0.01, 1 + noise) * straggler;
                duration[at(u)] = std::llround(static_cast<double>(plan.duration[at(u)]) * factor);
                units += unit_energy(network, plan, u) * factor -
                         network.wait[at(r)] * to_seconds(duration[at(u)]);
            }
        }
        const Seconds end = to_seconds(evaluate(network, duration, plan.gap).makespan);
        time += end.value;
        energy += (units + network.total_wait() * end).value;
        out.worst = std::max(out.worst, end);
    }
    out.mean = Seconds(time / disturbance.runs);
    out.energy = Joules(energy / disturbance.runs);
    return out;
}

}  // namespace viridian::pipeline
