// ENVPIPE's frequency planner (§4.4, Algorithms 1 and 2).
#include <algorithm>

#include "viridian/pipeline/critical_path.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {
namespace {

int one_up(const Curve& curve, int level, double step_hertz) {
    const int top = static_cast<int>(curve.points.size()) - 1;
    const double wanted = curve.points[at(level)].clock.value + step_hertz;
    do {
        ++level;
    } while (level < top && curve.points[at(level)].clock.value < wanted);
    return level;
}

}  // namespace

PlannerAnswer envpipe(const Schedule& schedule, const Network& network, Reconfigure how) {
    const std::vector<std::uint8_t> outside = envelope(schedule, network);
    const std::vector<int> top = maximum_levels(network);
    PlannerAnswer answer;
    ClockAssignment& plan = answer.assignment;
    plan = at_levels(network, unreconfigured_levels(schedule, network));
    while (true) {
        ++answer.iterations;  // one training step
        const Timing timing = evaluate(network, plan.duration);
        // Exact times tie where measured ones never do: the envelope need only be one of the critical paths.
        const std::vector<Nanoseconds> room = slack(network, plan.duration, timing);
        bool envelope_decides = true;
        for (std::size_t u = 0; u < room.size(); ++u)
            envelope_decides = envelope_decides && (outside[u] == 0 || room[u] == 0);
        if (envelope_decides) break;

        const std::vector<int> path = walk_back(network, plan.duration, timing);
        std::vector<int> slow;  // last unit first, as the path
        for (const int u : path)
            if (plan.level[at(u)] < top[at(u)]) slow.push_back(u);
        if (slow.empty()) break;
        if (how == Reconfigure::balanced) {
            const auto clock = [&](int u) { return network.curve(u).points[at(plan.level[at(u)])].clock; };
            const int least = *std::ranges::min_element(slow, {}, clock);
            std::erase_if(slow, [limit = clock(least), &clock](int u) { return clock(u) > limit; });
        } else {
            slow.erase(slow.begin() + 1, slow.end());
        }
        for (const int u : slow) {
            int& level = plan.level[at(u)];
            level = how == Reconfigure::balanced ? level + 1
                    : how == Reconfigure::greedy ? top[at(u)]
                                                 : one_up(network.curve(u), level, 90e6);
            plan.duration[at(u)] = duration_at(network.curve(u), level);
        }
    }
    return answer;
}

}  // namespace viridian::pipeline
