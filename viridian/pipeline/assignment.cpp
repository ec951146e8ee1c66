#include "viridian/pipeline/assignment.hpp"

namespace viridian::pipeline {
Nanoseconds duration_at(const Curve& curve, int level) {
    return level < 0 ? curve.slowest() : to_nanoseconds(curve.points[at(level)].time);
}

Joules energy_at(const Curve& curve, int level) {
    return level < 0 ? curve.energy(0) : curve.points[at(level)].energy;
}

ClockAssignment at_levels(const Network& network, std::vector<int> level) {
    ClockAssignment out;
    out.duration.resize(level.size());
    for (int u = 0; u < network.size(); ++u)
        out.duration[at(u)] = duration_at(network.curve(u), level[at(u)]);
    out.level = std::move(level);
    return out;
}

Joules unit_energy(const Network& network, const ClockAssignment& assignment, int unit) {
    const Curve& curve = network.curve(unit);
    if (!assignment.energy.empty()) return assignment.energy[at(unit)];
    return assignment.level.empty() ? curve.energy(assignment.duration[at(unit)])
                                    : energy_at(curve, assignment.level[at(unit)]);
}

Joules total_energy(const Network& network, const ClockAssignment& assignment, Nanoseconds end) {
    Joules total = network.total_wait() * to_seconds(end);
    for (int u = 0; u < network.size(); ++u) {
        const Curve& curve = network.curve(u);
        total += unit_energy(network, assignment, u) - curve.wait * to_seconds(assignment.duration[at(u)]);
    }
    return total;
}

}  // namespace viridian::pipeline
