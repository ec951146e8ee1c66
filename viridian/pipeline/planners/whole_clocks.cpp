// One clock per unit is NP-hard to choose best. The relaxation to two clocks in turn bounds what any such
// plan can reach. Several roundings of it are improved by exchanges, and the cheapest plan is taken.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "viridian/pipeline/exact/exact.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {
namespace {

// The work is bounded by counts, so that a plan never depends on the speed of the machine.
constexpr int most_dives = 24;                       // after them all other units are rounded at once
constexpr int most_dived_units = 1024 * most_dives;  // in all dives of one Diver
constexpr int most_units_for_two_divers = 1024;
constexpr std::int64_t most_visits = 30'000'000;  // of units, while time is exchanged
constexpr int open_level = -2;                    // of a unit that is not rounded yet

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

// Every unit may use what the exact plan gives it, and what the units before it left over. Units that have a
// level in `rounded` keep it.
std::vector<int> round_forward(const Network& network, const FlowSolution& exact,
                               std::span<const int> rounded = {}) {
    std::vector<int> level(at(network.size()));
    std::vector<Nanoseconds> finish(level.size());
    for (const std::int32_t u : network.order) {
        Nanoseconds start = 0;
        if (const int p = network.before(u); p >= 0) start = finish[at(p)];
        if (const auto d = network.dependency[at(u)]; d >= 0)
            start = std::max(start, finish[at(d)] + network.delay[at(u)]);
        const bool kept = !rounded.empty() && rounded[at(u)] != open_level;
        level[at(u)] = kept ? rounded[at(u)] : cheapest_within(network.curve(u), exact.finish[at(u)] - start);
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

double cost_of(const Network& network, std::span<const int> level) {
    double sum = 0;
    for (int u = 0; u < network.size(); ++u)
        sum += above_waiting_whole_clocks(network.curve(u), level[at(u)]);
    return sum;
}

// Diver rounds one in `share` of the units between two clocks, those nearest to one of them, and solves the
// relaxation of all others again, which use the time that rounding gained or make up for what it lost. It
// goes on until no unit lies between two clocks.
class Diver {
  public:
    Diver(const Network& network, Nanoseconds deadline, std::size_t share)
        : network_(network),
          part_(network),
          deadline_(deadline),
          share_(share),
          rounded_(at(network.size()), open_level),
          fastest_(fastest_durations(network)) {}

    // Returns a level per unit, with which the network ends by the deadline. Errors: those of exact_plan.
    Result<std::vector<int>> run(const ExactPlan& exact) {
        ExactPlan now = exact;
        const int dives = std::min(most_dives, most_dived_units / network_.size());
        for (int dive = 0; dive < dives; ++dive) {
            std::vector<Between> between = between_clocks(now.duration);
            if (between.empty()) break;
            between.resize((between.size() + share_ - 1) / share_);
            round(between);
            VIRIDIAN_TRY(now, exact_plan(part_, deadline_));
        }
        return round_forward(network_, now.solution, rounded_);
    }

  private:
    struct Between {
        double distance = 0;  // to the nearer clock, as a share of the time between the two
        int unit = 0;
        int nearer = 0, faster = 0;  // levels
        auto operator<=>(const Between&) const = default;
    };

    // Units whose duration lies between two clocks, those nearest to one of them first.
    std::vector<Between> between_clocks(std::span<const Nanoseconds> duration) const {
        std::vector<Between> list;
        for (int u = 0; u < network_.size(); ++u) {
            const Curve& curve = network_.curve(u);
            if (rounded_[at(u)] != open_level || curve.duration.size() < 2) continue;
            const std::size_t j = curve.segment(duration[at(u)]);
            const Nanoseconds slow = curve.duration[j], fast = curve.duration[j + 1];
            if (duration[at(u)] >= slow || duration[at(u)] <= fast) continue;
            const double share =
                static_cast<double>(slow - duration[at(u)]) / static_cast<double>(slow - fast);
            list.push_back(
                {std::min(share, 1 - share), u, curve.point[share < 0.5 ? j : j + 1], curve.point[j + 1]});
        }
        std::ranges::sort(list);
        return list;
    }

    // Rounds to the nearer clocks, or to the faster ones if the nearer ones cannot end by the deadline.
    void round(std::span<const Between> some) {
        for (const bool nearer : {true, false}) {
            for (const Between& b : some) set(b.unit, nearer ? b.nearer : b.faster);
            if (!nearer || evaluate(part_, fastest_).makespan <= deadline_) return;
        }
    }

    void set(int u, int level) {
        const Curve& curve = network_.curve(u);
        rounded_[at(u)] = level;
        fastest_[at(u)] = duration_at(curve, level);
        const auto [place, is_new] = fixed_.try_emplace(std::pair(network_.curve_of[at(u)], level),
                                                        static_cast<std::int32_t>(part_.curves.size()));
        if (is_new) {
            part_.curves.push_back(fixed_curve(fastest_[at(u)], curve.wait));
            part_.rank_of.push_back(network_.rank_of[at(network_.curve_of[at(u)])]);
        }
        part_.curve_of[at(u)] = place->second;
    }

    const Network& network_;
    Network part_;  // rounded units have a fixed duration
    Nanoseconds deadline_;
    std::size_t share_;
    std::vector<int> rounded_;
    std::vector<Nanoseconds> fastest_;                            // of rounded units their duration
    std::map<std::pair<std::int32_t, int>, std::int32_t> fixed_;  // curve and level -> curve of `part_`
};

// Exchange speeds up one unit by one clock and gives the time to those units that save the most with it, as
// long as that saves energy.
class Exchange {
  public:
    Exchange(const Network& network, Nanoseconds deadline) : network_(network), deadline_(deadline) {}

    // Changes `level`, and returns its cost.
    double improve(std::vector<int>& level) {
        double cost = cost_of(network_, level) + fill(level);
        for (bool better = true; better;) {
            better = false;
            for (int u = 0; u < network_.size(); ++u) {
                if (visits_ > most_visits) return cost;
                const int faster = next_faster(network_.curve(u), level[at(u)]);
                if (faster < 0) continue;
                std::vector<int> trial = level;
                trial[at(u)] = faster;
                const double found = cost + change(u, level[at(u)], faster) + fill(trial);
                if (found >= cost - 1e-12 * std::abs(cost)) continue;
                cost = found;
                level = std::move(trial);
                better = true;
            }
        }
        return cost;
    }

  private:
    double change(int u, int from, int to) const {
        return above_waiting_whole_clocks(network_.curve(u), to) -
               above_waiting_whole_clocks(network_.curve(u), from);
    }

    static int next_faster(const Curve& curve, int level) {
        int best = -1;
        for (int l = 0; level >= 0 && l < static_cast<int>(curve.points.size()); ++l)
            if (duration_at(curve, l) < duration_at(curve, level) &&
                (best < 0 || duration_at(curve, l) > duration_at(curve, best)))
                best = l;
        return best;
    }

    // Gives slack to the unit that saves the most with it, again and again. Returns the change of cost.
    double fill(std::vector<int>& level) {
        double total = 0;
        for (;;) {
            const ClockAssignment plan = at_levels(network_, level);
            const Timing timing = evaluate(network_, plan.duration);
            const std::vector<Nanoseconds> latest = latest_finish(network_, plan.duration, deadline_);
            visits_ += network_.size();
            double best = 0;
            int unit = -1, to = 0;
            for (int u = 0; u < network_.size(); ++u) {
                const Nanoseconds room = latest[at(u)] - timing.start[at(u)];
                if (room <= plan.duration[at(u)]) continue;
                const int l = cheapest_within(network_.curve(u), room);
                const double saved = l < 0 ? 0 : -change(u, level[at(u)], l);
                if (saved > best) best = saved, unit = u, to = l;
            }
            if (unit < 0 || visits_ > most_visits) return total;
            total -= best;
            level[at(unit)] = to;
        }
    }

    const Network& network_;
    Nanoseconds deadline_;
    std::int64_t visits_ = 0;
};

}  // namespace

Result<PlannerAnswer> whole_clocks(const Network& network, Nanoseconds deadline) {
    VIRIDIAN_TRY(const ExactPlan exact, exact_plan(network, deadline));
    const Nanoseconds end = exact.solution.time;
    std::vector<int> level = round_forward(network, exact.solution);
    fill_backward(network, level, end);
    double cost = Exchange(network, end).improve(level);
    for (const std::size_t share : {2, 4}) {
        if (network.size() > (share == 2 ? most_dived_units : most_units_for_two_divers)) break;
        VIRIDIAN_TRY(std::vector<int> dived, Diver(network, end, share).run(exact));
        const double found = Exchange(network, end).improve(dived);
        if (found < cost) cost = found, level = std::move(dived);
    }
    PlannerAnswer answer;
    answer.assignment = at_levels(network, std::move(level));
    answer.certificate = exact.certificate;
    answer.bound = to_joules(exact.certificate.primal) + network.total_wait() * to_seconds(end);
    return answer;
}

}  // namespace viridian::pipeline
