#include "viridian/search/objective/close_gap.hpp"

#include <array>

#include "viridian/search/objective/level_set.hpp"

namespace viridian::search {
namespace {

constexpr std::size_t most_directions = 4;

Weights weights_of(Metric x, double wx, Metric y, double wy) {
    Weights weights;
    add_weight(weights, x, wx);
    add_weight(weights, y, wy);
    return weights;
}

}  // namespace

ClosedGap close_gap(const Instance& instance, const Objective& objective, const Metrics& start,
                    const AssignOptions& options, const OpenGap& gap) {
    const LevelSet level(objective, start, gap.x, gap.from, gap.to, gap.least_y);
    const LevelSet::Cone cone = level.rising(gap.known);
    const std::array comparing = {weights_of(gap.x, cone.first.first, gap.y, cone.first.second),
                                  weights_of(gap.x, cone.second.first, gap.y, cone.second.second)};
    const Encoding in_x(instance, weights_of(gap.x, 1, gap.y, 0), options.encode, comparing);
    const Encoding in_y(instance, weights_of(gap.x, 0, gap.y, 1), options.encode, comparing);

    PointGoal goal;
    goal.value = [&](double x, double y) { return level.value(x, y); };
    goal.first = {cone.first.first, cone.first.second};
    goal.second = {cone.second.first, cone.second.second};
    goal.directions = gap.directions;
    if (goal.directions.size() > most_directions) goal.directions.resize(most_directions);
    goal.directions.push_back(goal.first);
    goal.directions.push_back(goal.second);
    goal.farthest = [&](const Direction& d, double value) { return level.farthest(d.x, d.y, value); };
    LabelOptions limits;
    limits.time_limit = options.exact.time_limit;
    limits.tolerance = options.exact.tolerance;
    limits.cancelled = options.exact.cancelled;
    const Solution solution =
        least_point({&in_x.problem(), &in_y.problem()}, goal, gap.known, gap.bound, limits);

    ClosedGap closed;
    // Where only direct conversions, or small sets of formats, were looked at, nothing is proven.
    closed.bound = in_x.restricted_values() > 0 ? gap.bound : solution.bound;
    if (!solution.states.empty()) {
        Encoding::Decoded decoded = in_x.decode(solution.states);
        closed.better = Outcome{std::move(decoded.assignment), decoded.totals, {}, in_x.restricted_values()};
    }
    return closed;
}

}  // namespace viridian::search
