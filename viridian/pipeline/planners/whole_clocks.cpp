// One clock per unit: NP-hard, so the relaxation bounds what any plan can reach and the difference is the
// proven gap.
#include <algorithm>

#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {
namespace {

double above_waiting_whole_clocks(const Curve& curve, int level) {
    return (energy_at(curve, level) - curve.wait * to_seconds(duration_at(curve, level))).value;
}

// The cheapest clock that takes at most `room`.
int cheapest_within(const Curve& curve, Nanoseconds room) {
    if (curve.points.empty()) return -1;
    int best = curve.point.back();
    for (int l = 0; l < static_cast<int>(curve.points.size()); ++l)
        if (duration_at(curve, l) <= room &&
            above_waiting_whole_clocks(curve, l) < above_waiting_whole_clocks(curve, best))
            best = l;
    return best;
}

// Every unit may use what the exact plan gives it, and what the units before it left over.
std::vector<int> round_forward(const Network& network, const FlowSolution& exact) {
    std::vector<int> level(at(network.size()));
    std::vector<Nanoseconds> finish(level.size());
    for (const std::int32_t u : network.order) {
        Nanoseconds start = 0;
        if (const int p = network.before(u); p >= 0) start = finish[at(p)];
        if (const auto d = network.dependency[at(u)]; d >= 0)
            start = std::max(start, finish[at(d)] + network.delay[at(u)]);
        level[at(u)] = cheapest_within(network.curve(u), exact.finish[at(u)] - start);
        finish[at(u)] = start + duration_at(network.curve(u), level[at(u)]);
    }
    return level;
}

// The same from the end: every unit may start as early as the units before it allow.
void fill_backward(const Network& network, std::vector<int>& level, Nanoseconds deadline) {
    const ClockAssignment plan = at_levels(network, level);
    const Timing timing = evaluate(network, plan.duration);
    std::vector<Nanoseconds> latest(level.size(), deadline);
    for (auto u = network.order.rbegin(); u != network.order.rend(); ++u) {
        const Nanoseconds ready = timing.start[at(*u)];  // earliest: those before it keep their times
        level[at(*u)] = cheapest_within(network.curve(*u), latest[at(*u)] - ready);
        const Nanoseconds start = latest[at(*u)] - duration_at(network.curve(*u), level[at(*u)]);
        if (const int p = network.before(*u); p >= 0) latest[at(p)] = std::min(latest[at(p)], start);
        if (const auto d = network.dependency[at(*u)]; d >= 0)
            latest[at(d)] = std::min(latest[at(d)], start - network.delay[at(*u)]);
    }
}

}  // namespace

Result<PlannerAnswer> whole_clocks(const Network& network, Nanoseconds deadline) {
    VIRIDIAN_TRY(const ExactPlan exact, exact_plan(network, deadline));
    PlannerAnswer answer;
    std::vector<int> level = round_forward(network, exact.solution);
    fill_backward(network, level, exact.solution.time);
    answer.assignment = at_levels(network, std::move(level));
    answer.certificate = exact.certificate;
    answer.bound =
        to_joules(exact.certificate.primal) + network.total_wait() * to_seconds(exact.solution.time);
    return answer;
}

}  // namespace viridian::pipeline
