// | `shortest-path-forward`, `shortest-path-backward`, `shortest-path` | SUBSTATION VI-A; its released code |
// paths in depth-first order: `-forward` through the forward part, as in the paper; `-backward` through all
// later nodes; `shortest-path` through both. Each remaining region then takes its cheapest option beside the
// settled regions. Edges into settled regions (residuals) are ignored and converted afterwards; in-place
// kernels are left out where others exist | residual edges; the other part of the graph |
#include <algorithm>
#include <map>

#include "viridian/search/assign/baselines.hpp"
#include "viridian/search/assign/in_place.hpp"
#include "viridian/search/assign/selection.hpp"

namespace viridian::search {

// They are at the end, and listed in solvers.cpp.
extern const SolverRow shortest_path_solver, forward_path_solver, backward_path_solver;

namespace {

using graph::NodeId;

class PathSolver {
  public:
    PathSolver(const Instance& instance, Selection selection, const Weights& weights, PathThrough through)
        : instance_(instance),
          selection_(std::move(selection)),
          weights_(weights),
          settled_(selection_.size(), false),
          following_(selection_.size()),
          entry_(selection_.size()),
          demanded_(selection_.size()),
          on_paths_(selection_.size(), true) {
        for (std::size_t f = 0; f < instance.flows().size(); ++f) {
            const Flow& flow = instance.flows()[f];
            if (flow.demanded && flow.producer != NodeId::none)
                demanded_[selection_.region_of(flow.producer)].push_back(f);
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
        if (through == PathThrough::all) return;
        const auto is_forward = [&](std::size_t region) {
            return instance.graph().node(selection_.candidate(region).head()).phase == graph::Phase::forward;
        };
        for (std::size_t r = 0; r < selection_.size(); ++r)
            on_paths_[r] = is_forward(r) == (through == PathThrough::forward);
    }

    Selection run() {
        // Regions are in topological order: those that read the graph's inputs start the depth-first search.
        for (std::size_t r = 0; r < selection_.size(); ++r)
            if (on_paths_[r] && !settled_[r]) walk(r);
        // Remaining regions that follow a settled one are chosen first, in order; then the others, in
        // reverse.
        for (std::size_t r = 0; r < selection_.size(); ++r)
            if (!settled_[r] && follows_settled(r)) infer(r);
        for (std::size_t r = selection_.size(); r-- > 0;)
            if (!settled_[r]) infer(r);
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
                if (!on_paths_[next] || settled_[next] || on_path[next]) continue;
                path.push_back({next, flow});
                on_path[next] = more = true;
                break;
            }
        }
        settle(path);
        // Branches that leave the path, in order.
        for (const Hop& hop : path)
            for (const auto& [next, flow] : following_[hop.region])
                if (on_paths_[next] && !settled_[next]) walk(next);
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
                if (!eligible(here, here.options[o])) continue;
                const double own = own_cost(path[i].region, here.options[o]);
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

    [[nodiscard]] bool follows_settled(std::size_t region) const {
        return std::any_of(entry_[region].begin(), entry_[region].end(),
                           [&](std::size_t f) { return is_settled(instance_.flows()[f].producer); });
    }

    // Returns what the option costs with the conversions of the graph's outputs, whose formats are fixed.
    [[nodiscard]] double own_cost(std::size_t region, const Option& option) const {
        double cost = weights_.of(option.metrics);
        for (const std::size_t f : demanded_[region]) {
            const Flow& flow = instance_.flows()[f];
            cost += conversion(flow, made(selection_.candidate(region), option, flow.value), flow.demanded);
        }
        return cost;
    }

    // Gives a region the option that costs least together with the conversions to and from what is settled.
    void infer(std::size_t region) {
        const Candidate& here = selection_.candidate(region);
        double least = infinite;
        Selection::Change change{region, selection_.option(region)};
        for (std::size_t o = 0; o < here.options.size(); ++o) {
            const Option& option = here.options[o];
            if (!eligible(here, option)) continue;
            double cost = own_cost(region, option);
            for (const std::size_t f : entry_[region])
                if (const Flow& flow = instance_.flows()[f]; flow.given || is_settled(flow.producer))
                    cost += entry_cost({region, f}, option);
            for (const auto& [next, f] : following_[region]) {
                if (!settled_[next]) continue;
                const Flow& flow = instance_.flows()[f];
                const Candidate& after = selection_.candidate(next);
                cost += conversion(flow, made(here, option, flow.value),
                                   wanted(after, after.options[selection_.option(next)], flow.value));
            }
            if (cost < least) {
                least = cost;
                change.option = o;
            }
        }
        selection_.apply(std::span(&change, 1));
        settled_[region] = true;
    }
    [[nodiscard]] bool is_settled(NodeId node) const {
        return node != NodeId::none && settled_[selection_.region_of(node)];
    }

    // In-place kernels depend on edges off the path, so they are used only where a region has no others.
    static bool eligible(const Candidate& candidate, const Option& option) {
        const auto plain = [](const Option& one) {
            return one.choice.aliasing == plan::Aliasing::none || one.choice.aliasing == plan::Aliasing::view;
        };
        return plain(option) || std::none_of(candidate.options.begin(), candidate.options.end(), plain);
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
    std::vector<std::vector<std::size_t>> demanded_;                           // outputs of the graph
    std::vector<bool> on_paths_;                                               // by region
};

}  // namespace

Result<Outcome> solve_shortest_path(const Instance& instance, const Weights& weights, PathThrough through) {
    VIRIDIAN_TRY(Selection selection, fused_selection(instance));
    selection = PathSolver(instance, std::move(selection), weights, through).run();
    Outcome outcome = outcome_of(selection, through == PathThrough::forward    ? forward_path_solver
                                            : through == PathThrough::backward ? backward_path_solver
                                                                               : shortest_path_solver);
    if (!outcome.totals.possible())
        return fail(ErrorCode::unsupported, "choose the solver `exact`",
                    "the shortest path's kernels do not fit together");
    outcome.assignment.value = weights.of(outcome.totals);
    return outcome;
}

namespace {

Result<void> expect_additive(const Objective& objective) {
    if (objective.additive()) return {};
    return fail(ErrorCode::unsupported,
                "choose exact or greedy, or an objective without power, products and limits",
                "paths have no length under the objective `{}`", text(objective));
}

template <PathThrough through>
Result<Outcome> solve_by_paths(const Instance& instance, const Objective& objective, const Metrics& start,
                               const AssignOptions&) {
    return solve_shortest_path(instance, objective.weights(start), through);
}

}  // namespace

const SolverRow shortest_path_solver = {
    "shortest-path", "SUBSTATION VI-A: shortest paths through the network, one after the other",
    expect_additive, solve_by_paths<PathThrough::all>};
const SolverRow forward_path_solver = {"shortest-path-forward",
                                       "the same through the forward part; the backward part follows",
                                       expect_additive, solve_by_paths<PathThrough::forward>};
const SolverRow backward_path_solver = {"shortest-path-backward",
                                        "the same through the backward part; the forward part follows",
                                        expect_additive, solve_by_paths<PathThrough::backward>};

}  // namespace viridian::search
