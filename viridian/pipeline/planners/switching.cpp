#include "viridian/pipeline/planners/switching.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "viridian/pipeline/exact/exact.hpp"

namespace viridian::pipeline {
namespace {

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

double above_waiting_switching(const Curve& curve, int level) {
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
    RankPlanner(const Network& network, std::span<const Nanoseconds> windows, const SwitchPrice& price)
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
            label.cost += above_waiting_switching(curve, level);
        }
        if (const auto d = network_.dependency[at(u)]; d >= 0)
            start = std::max(start, windows_[at(d)] + network_.delay[at(u)]);
        label.finish = start + duration_at(curve, level);
        if (label.finish <= windows_[at(u)]) out.push_back(label);
    }

    const Network& network_;
    std::span<const Nanoseconds> windows_;  // when each unit has to end
    const SwitchPrice& price_;
};

}  // namespace

std::int64_t price_switches(const Network& network, ClockAssignment& plan, const SwitchPrice& price) {
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

namespace {

// A whole-clock plan, what its changes cost, and when it ends.
struct PricedPlan {
    ClockAssignment assignment;
    Joules energy;  // by the deadline, changes included
    Nanoseconds end = 0;
};

PricedPlan priced(const Network& network, std::vector<int> level, Nanoseconds deadline,
                  const SwitchPrice& price) {
    PricedPlan plan{at_levels(network, std::move(level)), {}, 0};
    const std::int64_t changes = price_switches(network, plan.assignment, price);
    plan.energy =
        total_energy(network, plan.assignment, deadline) + price.energy * static_cast<double>(changes);
    plan.end = evaluate(network, plan.assignment.duration, plan.assignment.gap).makespan;
    return plan;
}

// When each unit has to end if all units start no later than the plan starts them (`early`), or if they start
// as late as the deadline allows. In both windows the plan itself fits, and a rank may use all slack that is
// left.
std::vector<Nanoseconds> windows_around(const Network& network, const ClockAssignment& plan,
                                        Nanoseconds deadline, bool early) {
    std::vector<Nanoseconds> held = plan.duration;  // a change of clock is part of the unit after it
    for (std::size_t u = 0; u < held.size(); ++u) held[u] += plan.gap[u];
    if (!early) return latest_finish(network, held, deadline);
    const std::vector<Nanoseconds> start = evaluate(network, held).start;
    std::vector<Nanoseconds> finish(held.size(), deadline);
    for (int u = 0; u < network.size(); ++u) {
        if (const int p = network.before(u); p >= 0) finish[at(p)] = std::min(finish[at(p)], start[at(u)]);
        if (const auto d = network.dependency[at(u)]; d >= 0)
            finish[at(d)] = std::min(finish[at(d)], start[at(u)] - network.delay[at(u)]);
    }
    return finish;
}

// Every rank planned inside the windows. Errors: invalid_argument when one rank has no plan.
Result<std::vector<int>> plan_ranks(const Network& network, const std::vector<Nanoseconds>& windows,
                                    const SwitchPrice& price) {
    const RankPlanner planner(network, windows, price);
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
    return level;
}

}  // namespace

Result<PlannerAnswer> plan_with_switches(const Network& network, Nanoseconds deadline,
                                         const SwitchPrice& price) {
    VIRIDIAN_TRY(const ExactPlan exact, exact_plan(network, deadline));
    const Nanoseconds end = exact.solution.time;
    std::optional<PricedPlan> best;
    const auto consider = [&](std::vector<int> level) {
        PricedPlan plan = priced(network, std::move(level), end, price);
        if (plan.end > end || (best && plan.energy >= best->energy)) return false;
        best = std::move(plan);
        return true;
    };
    std::optional<Error> failure;
    Result<std::vector<int>> first = plan_ranks(network, exact.solution.finish, price);
    if (first.ok())
        consider(std::move(first).value());
    else
        failure = std::move(first).error();
    if (price.dwell == 0) {  // the rounded plan knows no shortest stay
        VIRIDIAN_TRY(PlannerAnswer rounded, whole_clocks(network, deadline));
        consider(std::move(rounded.assignment.level));
    }
    if (!best && failure) return *std::move(failure);
    invariant(best.has_value(), "units that keep to the windows of the exact plan end with it");
    constexpr int most_rounds = 8;
    bool better = true;
    for (int round = 0; better && round < most_rounds; ++round) {
        better = false;
        for (const bool early : {true, false}) {
            auto again = plan_ranks(network, windows_around(network, best->assignment, end, early), price);
            if (again.ok() && consider(std::move(again).value())) better = true;
        }
    }
    PlannerAnswer answer;
    answer.assignment = std::move(best->assignment);
    answer.certificate = exact.certificate;
    answer.bound = to_joules(exact.certificate.primal) + network.total_wait() * to_seconds(end);
    return answer;
}

std::string price_switches(const Profile& profile, const Network& network, PlannerAnswer& answer) {
    const SwitchPrice price{to_nanoseconds(profile.switch_latency), profile.switch_energy,
                            to_nanoseconds(profile.dwell)};
    if (price.free()) return "";
    if (answer.assignment.level.empty())
        return "changes of clock are not priced in this plan; give --planner switching";
    price_switches(network, answer.assignment, price);
    return "";
}

}  // namespace viridian::pipeline
