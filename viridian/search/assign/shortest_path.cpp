// | `shortest-path` | SUBSTATION VI-A | paths in depth-first order; edges into what is settled (residuals)
// are ignored and converted afterwards; kernels in place are left out where others exist | residual edges,
// backward graph |
#include <algorithm>
#include <map>

#include "viridian/search/assign/baselines.hpp"
#include "viridian/search/assign/in_place.hpp"
#include "viridian/search/assign/selection.hpp"

namespace viridian::search {

extern const SolverRow shortest_path_solver;  // at the end; listed in solvers.cpp

namespace {

using graph::NodeId;

class PathSolver {
  public:
    PathSolver(const Instance& instance, Selection selection, const Weights& weights)
        : instance_(instance),
          selection_(std::move(selection)),
          weights_(weights),
          settled_(selection_.size(), false),
          following_(selection_.size()),
          entry_(selection_.size()) {
        for (std::size_t f = 0; f < instance.flows().size(); ++f) {
            const Flow& flow = instance.flows()[f];
            for (const NodeId reader : flow.readers) {
                const std::size_t to = selection_.region_of(reader);
                if (flow.producer == NodeId::none) {
                    entry_[to].push_back(f);
                } else if (const std::size_t from = selection_.region_of(flow.producer); from != to) {
                    following_[from].emplace_back(to, f);
                    entry_[to].push_back(f);
                }
            }
        }
    }

    Selection run() {
        // Regions are in topological order: those that read the graph's inputs start the depth-first search.
        for (std::size_t r = 0; r < selection_.size(); ++r)
            if (!settled_[r]) walk(r);
        return std::move(selection_);
    }

  private:
    struct Hop {
        std::size_t region, flow;  // entered through this value; npos at a start without one
    };
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    void walk(std::size_t start) {
        std::vector<Hop> path = {{start, npos}};
        for (const std::size_t f : entry_[start])
            if (const NodeId producer = instance_.flows()[f].producer;
                producer == NodeId::none || settled_[selection_.region_of(producer)]) {
                path[0].flow = f;
                break;
            }
        std::vector<bool> on_path(selection_.size(), false);
        on_path[start] = true;
        for (bool more = true; more;) {
            more = false;
            for (const auto& [next, flow] : following_[path.back().region]) {
                if (settled_[next] || on_path[next]) continue;
                path.push_back({next, flow});
                on_path[next] = more = true;
                break;
            }
        }
        settle(path);
        // Branches that leave the path, in order.
        for (const Hop& hop : path)
            for (const auto& [next, flow] : following_[hop.region])
                if (!settled_[next]) walk(next);
    }

    // Shortest path from the first hop's given format to any format of the last. Layer i holds the options of
    // hop i: an option stands for its input and output format, and only the cheapest per pair of them
    // matters.
    void settle(const std::vector<Hop>& path) {
        std::vector<std::vector<double>> cost(path.size());
        std::vector<std::vector<std::size_t>> from(path.size());
        for (std::size_t i = 0; i < path.size(); ++i) {
            const Candidate& here = selection_.candidate(path[i].region);
            cost[i].assign(here.options.size(), infinite);
            from[i].assign(here.options.size(), 0);
            for (std::size_t o = 0; o < here.options.size(); ++o) {
                if (!plain(here.options[o]) && has_plain(here)) continue;
                const double own = weights_.of(here.options[o].metrics);
                if (i == 0) {
                    cost[i][o] = own + (path[i].flow == npos ? 0 : entry_cost(path[i], here.options[o]));
                    continue;
                }
                const Candidate& before = selection_.candidate(path[i - 1].region);
                const Flow& flow = instance_.flows()[path[i].flow];
                for (std::size_t p = 0; p < before.options.size(); ++p) {
                    if (cost[i - 1][p] == infinite) continue;
                    const double total = cost[i - 1][p] + own +
                                         conversion(flow, made(before, before.options[p], flow.value),
                                                    wanted(here, here.options[o], flow.value));
                    if (total < cost[i][o]) {
                        cost[i][o] = total;
                        from[i][o] = p;
                    }
                }
            }
        }
        auto at = static_cast<std::size_t>(std::min_element(cost.back().begin(), cost.back().end()) -
                                           cost.back().begin());
        for (std::size_t i = path.size(); i-- > 0; at = from[i][at]) {
            const Selection::Change change{path[i].region, at};
            selection_.apply(std::span(&change, 1));
            settled_[path[i].region] = true;
        }
    }

    static bool plain(const Option& option) {
        return option.choice.aliasing == plan::Aliasing::none ||
               option.choice.aliasing == plan::Aliasing::view;
    }
    // What works in place depends on other edges than the path's.
    static bool has_plain(const Candidate& candidate) {
        return std::any_of(candidate.options.begin(), candidate.options.end(), plain);
    }

    double entry_cost(const Hop& hop, const Option& option) const {
        const Flow& flow = instance_.flows()[hop.flow];
        std::optional<FormatId> given = flow.given;
        if (!given) {
            const std::size_t r = selection_.region_of(flow.producer);
            given = made(selection_.candidate(r), selection_.candidate(r).options[selection_.option(r)],
                         flow.value);
        }
        return conversion(flow, given, wanted(selection_.candidate(hop.region), option, flow.value));
    }

    double conversion(const Flow& flow, std::optional<FormatId> from, std::optional<FormatId> to) const {
        if (!from || !to) return 0;
        return weights_.cost(flow.conversions->cost(*from, flow.conversions->bit(*to)));
    }

    const Instance& instance_;
    Selection selection_;
    Weights weights_;
    std::vector<bool> settled_;
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> following_;  // region, value's flow
    std::vector<std::vector<std::size_t>> entry_;                              // flows a region reads
};

}  // namespace

Result<Outcome> solve_shortest_path(const Instance& instance, const Weights& weights) {
    VIRIDIAN_TRY(Selection selection, fused_selection(instance));
    selection = PathSolver(instance, std::move(selection), weights).run();
    Outcome outcome = outcome_of(selection, shortest_path_solver);
    if (!outcome.totals.possible())
        return fail(ErrorCode::unsupported, "choose the solver `exact`",
                    "the shortest path's kernels do not fit together");
    outcome.assignment.value = weights.of(outcome.totals);
    return outcome;
}

const SolverRow shortest_path_solver = {
    "shortest-path", "SUBSTATION VI-A: shortest paths through the network, one after the other",
    [](const Objective& objective) -> Result<void> {
        if (objective.additive()) return {};
        return fail(ErrorCode::unsupported,
                    "choose exact or greedy, or an objective without power, products and limits",
                    "paths have no length under the objective `{}`", text(objective));
    },
    [](const Instance& instance, const Objective& objective, const Metrics& start, const AssignOptions&) {
        return solve_shortest_path(instance, objective.weights(start));
    }};

}  // namespace viridian::search
