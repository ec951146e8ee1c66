#include "viridian/search/assign.hpp"

#include <array>

#include "viridian/search/baselines.hpp"
#include "viridian/search/hull.hpp"

namespace viridian::search {
namespace {

constexpr std::array solvers = {Solver::exact, Solver::greedy, Solver::shortest_path, Solver::first};

}  // namespace

Result<Outcome> solve_additive(const Instance& instance, const Weights& weights,
                               const AssignOptions& options) {
    const Encoding encoding(instance, weights, options.encode);
    const Solution solution = solve_exact(encoding.problem(), options.exact);
    if (solution.states.empty()) {
        if (solution.bound == infinite)
            return fail(ErrorCode::unsupported,
                        "profile the model again, so that every layout can be converted",
                        "no choice of kernels fits together");
        return fail(ErrorCode::cancelled, "allow more seconds with --budget",
                    "no assignment was found in time");
    }
    Encoding::Decoded decoded = encoding.decode(solution.states);
    decoded.assignment.solver = name_of(Solver::exact);
    decoded.assignment.value = weights.of(decoded.totals);
    // An optimum's bound is its value, whatever the order of summing.
    decoded.assignment.bound = encoding.restricted_values() > 0
                                   ? -infinite  // other trees of conversions may be cheaper
                               : solution.proven() ? decoded.assignment.value
                                                   : std::min(decoded.assignment.value, solution.bound);
    return Outcome{std::move(decoded.assignment), decoded.totals, {}, encoding.restricted_values()};
}

std::string_view name_of(Solver solver) {
    switch (solver) {
        case Solver::exact:
            return "exact";
        case Solver::greedy:
            return "greedy";
        case Solver::shortest_path:
            return "shortest-path";
        case Solver::first:
            return "first";
    }
    return "";
}

Result<Solver> parse_solver(std::string_view name) {
    for (const Solver solver : solvers)
        if (name_of(solver) == name) return solver;
    return fail(ErrorCode::invalid_argument, "choose exact, greedy, shortest-path or first",
                "no solver is called `{}`", name);
}

Result<void> expect_solvable(const Objective& objective, Solver solver) {
    if (objective.additive()) return {};
    if (solver == Solver::shortest_path)
        return fail(ErrorCode::unsupported,
                    "choose exact or greedy, or an objective without power, products and limits",
                    "paths have no length under the objective `{}`", text(objective));
    if (const std::size_t count = weighed(objective).size(); solver == Solver::exact && count > 2)
        return fail(ErrorCode::unsupported, "leave out one of its metrics",
                    "the objective `{}` is not additive and weighs {} metrics; two can be", text(objective),
                    count);
    return {};
}

namespace {

// Where `exact` is not proven, the other solvers, or exchanges of two regions, may still find more; its bound
// holds all the same.
Outcome least_of_all(Outcome best, const Instance& instance, const Objective& objective, const Metrics& start,
                     const AssignOptions& options) {
    const Weights weights = objective.weights(start);
    SolveOptions brief = options.exact;
    brief.time_limit = std::min(brief.time_limit, Seconds(2));
    const auto consider = [&](Result<Outcome> other) {
        if (!other.ok() || !(weights.of(other->totals) < best.assignment.value)) return;
        other->assignment.solver = best.assignment.solver;
        other->assignment.value = weights.of(other->totals);
        other->assignment.bound = best.assignment.bound;
        best = *std::move(other);
    };
    consider(solve_first(instance));
    consider(solve_shortest_path(instance, weights));
    consider(solve_greedy(instance, objective, start, options.distance, brief));
    consider(improve(instance, best, objective, start, 2, brief));
    return best;
}

Result<Outcome> solve_from(const Instance& instance, const Objective& objective, const Metrics& start,
                           const AssignOptions& options) {
    VIRIDIAN_TRY(expect_solvable(objective, options.solver));
    const Weights weights = objective.additive() ? objective.weights(start) : Weights{};
    switch (options.solver) {
        case Solver::exact: {
            if (!objective.additive()) return solve_on_hull(instance, objective, start, options);
            VIRIDIAN_TRY(Outcome best, solve_additive(instance, weights, options));
            return best.assignment.gap() > 0
                       ? least_of_all(std::move(best), instance, objective, start, options)
                       : best;
        }
        case Solver::greedy:
            return solve_greedy(instance, objective, start, options.distance, options.exact);
        case Solver::shortest_path:
            return solve_shortest_path(instance, weights);
        case Solver::first: {
            VIRIDIAN_TRY(Outcome outcome, solve_first(instance));
            outcome.assignment.value = objective.value(outcome.totals, start);
            return outcome;
        }
    }
    return fail(ErrorCode::broken_invariant, "please report it", "an unknown solver");
}

}  // namespace

Result<Outcome> solve(const Instance& instance, const Objective& objective, const AssignOptions& options) {
    Metrics start;
    if (objective.needs_start()) {
        if (options.start) {
            start = *options.start;
        } else {
            VIRIDIAN_TRY(const Outcome baseline, solve_first(instance));
            start = baseline.totals;
        }
    }
    VIRIDIAN_TRY(Outcome outcome, solve_from(instance, objective, start, options));
    outcome.start = start;
    if (!objective.within_limit(outcome.totals, start))
        return fail(ErrorCode::missing_entry, "solve it with `exact`, or allow more",
                    "the plan of `{}` does not keep the limit of `{}`", name_of(options.solver),
                    text(objective));
    return outcome;
}

Result<plan::Assignment> assign(const graph::Graph& graph, std::span<const plan::Region> regions,
                                const cost::Source& source, const Objective& objective,
                                const AssignOptions& options) {
    VIRIDIAN_TRY(const Instance instance,
                 Instance::make(graph, regions, source, options.boundary, options.keep_f32));
    VIRIDIAN_TRY(Outcome outcome, solve(instance, objective, options));
    return std::move(outcome.assignment);
}

}  // namespace viridian::search
