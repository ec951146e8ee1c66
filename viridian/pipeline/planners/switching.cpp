#include "viridian/pipeline/planners/switching.hpp"

#include <algorithm>

#include "viridian/pipeline/exact/exact.hpp"

namespace viridian::pipeline {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One way to run a rank up to and including some unit.
struct Label {
    Nanoseconds finish = 0;
    double cost = 0;              // joules above waiting, changes included
    Nanoseconds clock_since = 0;  // when the present clock was set
    double clock = 0;             // hertz; 0: none yet
    int level = -1;
    int parent = -1;  // label of the unit before
};

constexpr std::size_t most_labels = 12;  // per unit and clock

double above_waiting(const Curve& curve, int level) {
    return (energy_at(curve, level) - curve.wait * to_seconds(duration_at(curve, level))).value;
}

// Keeps the labels of one clock that no other beats in both time and cost, the earliest always among them.
void prune(std::vector<Label>& labels, std::size_t begin) {
    const auto first = labels.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, labels.end(), [](const Label& a, const Label& b) {
        return a.finish != b.finish ? a.finish < b.finish : a.cost < b.cost;
    });
    std::size_t keep = begin;
    for (std::size_t i = begin; i < labels.size() && keep - begin < most_labels; ++i)
        if (keep == begin || labels[i].cost < labels[keep - 1].cost) labels[keep++] = labels[i];
    labels.resize(keep);
}

class RankPlanner {
  public:
    RankPlanner(const Network& network, const FlowSolution& windows, const SwitchPrice& price)
        : network_(network), windows_(windows), price_(price) {}

    // Levels of the rank's units; empty when none fit.
    std::vector<int> plan(int begin, int end) const {
        std::vector<std::vector<Label>> steps;
        std::vector<Label> before = {Label{}};
        for (int u = begin; u < end; ++u) {
            const Curve& curve = network_.curve(u);
            std::vector<Label> after;
            for (int level = curve.points.empty() ? -1 : 0;
                 level < std::max(0, static_cast<int>(curve.points.size())); ++level) {
                const std::size_t mark = after.size();
                for (std::size_t p = 0; p < before.size(); ++p)
                    extend(before[p], static_cast<int>(p), u, level, after);
                prune(after, mark);
            }
            if (after.empty()) return {};
            steps.push_back(after);
            before = std::move(after);
        }
        std::vector<int> level(steps.size());
        int best = 0;
        for (std::size_t i = 0; i < before.size(); ++i)
            if (before[i].cost < before[at(best)].cost) best = static_cast<int>(i);
        for (std::size_t i = steps.size(); i-- > 0;) {
            level[i] = steps[i][at(best)].level;
            best = steps[i][at(best)].parent;
        }
        return level;
    }

  private:
    void extend(const Label& from, int parent, int u, int level, std::vector<Label>& out) const {
        const Curve& curve = network_.curve(u);
        Label label = from;
        label.parent = parent;
        label.level = level;
        Nanoseconds start = from.finish;
        if (level >= 0) {
            const double clock = curve.points[at(level)].clock.value;
            if (from.clock > 0 && clock != from.clock) {
                if (from.finish - from.clock_since < price_.dwell) return;
                start += price_.latency;
                label.cost += price_.energy.value;
            }
            if (clock != from.clock) label.clock_since = from.clock > 0 ? start : 0;
            label.clock = clock;
            label.cost += above_waiting(curve, level);
        }
        if (const auto d = network_.dependency[at(u)]; d >= 0)
            start = std::max(start, windows_.finish[at(d)] + network_.delay[at(u)]);
        label.finish = start + duration_at(curve, level);
        if (label.finish <= windows_.finish[at(u)]) out.push_back(label);
    }

    const Network& network_;
    const FlowSolution& windows_;
    const SwitchPrice& price_;
};

}  // namespace

std::int64_t price_switches(const Network& network, Assignment& plan, const SwitchPrice& price) {
    std::int64_t changes = 0;
    plan.gap.assign(plan.duration.size(), 0);
    for (int r = 0; r < network.ranks(); ++r) {
        double clock = 0;
        for (int u = network.rank_begin[at(r)]; u < network.rank_begin[at(r + 1)]; ++u) {
            if (plan.level[at(u)] < 0) continue;
            const double now = network.curve(u).points[at(plan.level[at(u)])].clock.value;
            if (clock > 0 && now != clock) {
                plan.gap[at(u)] = price.latency;
                ++changes;
            }
            clock = now;
        }
    }
    return changes;
}

Result<PlannerAnswer> plan_with_switches(const Network& network, Nanoseconds deadline,
                                         const SwitchPrice& price) {
    VIRIDIAN_TRY(const ExactPlan exact, exact_plan(network, deadline));
    const RankPlanner planner(network, exact.solution, price);
    std::vector<int> level;
    for (int r = 0; r < network.ranks(); ++r) {
        const int begin = network.rank_begin[at(r)], end = network.rank_begin[at(r + 1)];
        const std::vector<int> rank = planner.plan(begin, end);
        if (static_cast<int>(rank.size()) != end - begin)
            return fail(ErrorCode::invalid_argument,
                        "allow a --slowdown, or profile all instructions at the same clocks",
                        "with these clock-change prices no plan meets the deadline on rank {}", r);
        level.insert(level.end(), rank.begin(), rank.end());
    }
    PlannerAnswer answer;
    answer.assignment = at_levels(network, std::move(level));
    price_switches(network, answer.assignment, price);
    answer.certificate = exact.certificate;
    answer.bound =
        to_joules(exact.certificate.primal) + network.total_wait() * to_seconds(exact.solution.time);
    return answer;
}

}  // namespace viridian::pipeline
