// | `greedy` (distance d) | EAGO Algorithm 2 | from the first choices: any better assignment within distance
// d, over the largest regions. Under additive objectives only sets of neighbouring regions are tried: others
// help only if a part of them does | conversions beyond distance d |
#include <algorithm>
#include <chrono>
#include <functional>

#include "viridian/search/assign/baselines.hpp"
#include "viridian/search/assign/selection.hpp"

namespace viridian::search {

extern const SolverRow greedy_solver;  // at the end; listed in solvers.cpp

namespace {

class Greedy {
  public:
    Greedy(Selection selection, const Objective& objective, const Metrics& start, std::size_t distance,
           const SolveOptions& limits)
        : selection_(std::move(selection)),
          objective_(objective),
          start_(start),
          distance_(distance),
          limits_(limits),
          totals_(selection_.totals()),
          differences_(selection_.size()) {}

    Selection run() {
        for (bool changed = true; changed && !stopped();) {
            changed = false;
            for (std::size_t size = 1; size <= distance_; ++size)
                for (std::size_t first = 0; first < selection_.size(); ++first) {
                    changes_ = {{first, 0}};
                    changed = grow(size) || changed;
                }
            totals_ = selection_.totals();  // differences leave rounding behind
        }
        return std::move(selection_);
    }

  private:
    double cost(const Metrics& totals) const {
        if (!totals.possible()) return infinite;
        const double value = objective_.value(totals, start_);
        if (objective_.within_limit(totals, start_)) return value;
        // Outside the limit: anything inside is better, and so is whatever is nearer to it.
        return 1e100 * measure(objective_.limit->metric, totals);
    }

    // Adds regions behind the last one until there are `size`. For additive objectives a set of changes that
    // falls apart into parts without a common value helps only if a part does, so such sets are left out.
    bool grow(std::size_t size) {
        if (changes_.size() == size) {
            apart_ = size == 1 || (size == 2 && !neighbours(changes_[0].region, changes_[1].region));
            return try_options(0);
        }
        bool changed = false;
        for (std::size_t next = changes_[0].region + 1; next < selection_.size() && !stopped(); ++next) {
            bool taken = false, near = !objective_.additive();
            for (const Selection::Change& change : changes_) {
                taken = taken || change.region == next;
                near = near || neighbours(change.region, next);
            }
            if (taken || !near) continue;
            changes_.push_back({next, 0});
            changed = grow(size) || changed;
            changes_.pop_back();
        }
        return changed;
    }

    bool try_options(std::size_t at) {
        bool changed = false;
        const std::size_t region = changes_[at].region;
        for (std::size_t option = 0; option < selection_.candidate(region).options.size(); ++option) {
            if (option == selection_.option(region)) continue;
            changes_[at].option = option;
            if (apart_ && !difference(changes_[at]).possible()) continue;
            if (at + 1 < changes_.size()) {
                changed = try_options(at + 1) || changed;
                continue;
            }
            const Metrics totals = after();
            const double now = cost(totals_);
            if (cost(totals) < now - 1e-12 * std::abs(now)) {
                selection_.apply(changes_);
                forget_differences();
                totals_ = totals;
                changed = true;
            }
        }
        return changed;
    }

    bool neighbours(std::size_t a, std::size_t b) const {
        const auto& around = selection_.neighbours(a);
        return std::binary_search(around.begin(), around.end(), b);
    }

    // Of regions without a common value, what each change adds by itself is kept, and adds up.
    Metrics after() {
        if (!apart_) return selection_.after(totals_, changes_);
        Metrics totals = totals_;
        for (const Selection::Change& change : changes_) totals += difference(change);
        return totals;
    }

    const Metrics& difference(const Selection::Change& change) {
        std::vector<Metrics>& by_option = differences_[change.region];
        if (by_option.empty())
            for (std::size_t o = 0; o < selection_.candidate(change.region).options.size(); ++o) {
                const Selection::Change alone{change.region, o};
                by_option.push_back(selection_.after({}, {&alone, 1}));
            }
        return by_option[change.option];
    }

    void forget_differences() {
        for (const Selection::Change& change : changes_) {
            differences_[change.region].clear();
            for (const std::size_t near : selection_.neighbours(change.region)) differences_[near].clear();
        }
    }

    bool stopped() {
        if (++asked_ % 256 != 0) return stopped_;
        stopped_ = (limits_.cancelled && limits_.cancelled()) ||
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() >
                       limits_.time_limit.value;
        return stopped_;
    }

    Selection selection_;
    const Objective& objective_;
    const Metrics& start_;
    std::size_t distance_;
    const SolveOptions& limits_;
    Metrics totals_;
    std::vector<Selection::Change> changes_;
    bool apart_ = false;                             // no two of `changes_` have a common value
    std::vector<std::vector<Metrics>> differences_;  // by region and option; empty where not known
    std::size_t asked_ = 0;
    bool stopped_ = false;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Outcome descend(Selection selection, const Objective& objective, const Metrics& start, std::size_t distance,
                const SolveOptions& limits) {
    selection = Greedy(std::move(selection), objective, start, distance, limits).run();
    Outcome outcome = outcome_of(selection, greedy_solver);
    outcome.start = start;
    outcome.assignment.value = objective.value(outcome.totals, start);
    return outcome;
}

}  // namespace

Result<Outcome> solve_greedy(const Instance& instance, const Objective& objective, const Metrics& start,
                             std::size_t distance, const SolveOptions& limits) {
    VIRIDIAN_TRY(Selection selection, fused_selection(instance));
    return descend(std::move(selection), objective, start, distance, limits);
}

Result<Outcome> improve(const Instance& instance, const Outcome& from, const Objective& objective,
                        const Metrics& start, std::size_t distance, const SolveOptions& limits) {
    std::vector<std::uint32_t> cover;
    std::vector<Selection::Change> changes;
    for (const plan::AssignedRegion& assigned : from.assignment.regions)
        for (const std::uint32_t c : instance.candidates_of(assigned.region.nodes.front())) {
            const Candidate& candidate = instance.candidates()[c];
            if (candidate.region.nodes != assigned.region.nodes) continue;
            const auto same = [&](const Option& option) { return option.choice == assigned.choice; };
            const auto at = std::find_if(candidate.options.begin(), candidate.options.end(), same);
            changes.push_back({cover.size(), static_cast<std::size_t>(at - candidate.options.begin())});
            cover.push_back(c);
            break;
        }
    invariant(cover.size() == from.assignment.regions.size(), "an assignment's regions are candidates");
    Selection selection(instance, std::move(cover));
    selection.apply(changes);
    return descend(std::move(selection), objective, start, distance, limits);
}

const SolverRow greedy_solver = {
    "greedy", "EAGO Algorithm 2: any better plan that differs in a few regions, until there is none",
    solves_all,
    [](const Instance& instance, const Objective& objective, const Metrics& start,
       const AssignOptions& options) {
        return solve_greedy(instance, objective, start, options.distance, options.exact);
    }};

}  // namespace viridian::search
