// | `exact` | this project | below | nothing; prints its gap |
#include <algorithm>

#include "viridian/search/assign/baselines.hpp"
#include "viridian/search/objective/hull.hpp"

namespace viridian::search {

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
    decoded.assignment.solver = exact_solver.name;
    decoded.assignment.value = weights.of(decoded.totals);
    // An optimum's bound is its value, whatever the order of summing.
    decoded.assignment.bound = encoding.restricted_values() > 0
                                   ? -infinite  // other trees of conversions may be cheaper
                               : solution.proven() ? decoded.assignment.value
                                                   : std::min(decoded.assignment.value, solution.bound);
    return Outcome{std::move(decoded.assignment), decoded.totals, {}, encoding.restricted_values()};
}

namespace {

// If the problem was not solved to proof, another solver, or exchanges of two regions, may still find more;
// the bound holds all the same.
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
    for (const PathThrough through : {PathThrough::all, PathThrough::forward, PathThrough::backward})
        consider(solve_shortest_path(instance, weights, through));
    consider(solve_greedy(instance, objective, start, options.distance, brief));
    consider(improve(instance, best, objective, start, 2, brief));
    return best;
}

Result<void> expect_two_metrics(const Objective& objective) {
    if (const std::size_t count = weighed(objective).size(); !objective.additive() && count > 2)
        return fail(ErrorCode::unsupported, "leave out one of its metrics",
                    "the objective `{}` is not additive and weighs {} metrics; two can be", text(objective),
                    count);
    return {};
}

Result<Outcome> solve_exactly(const Instance& instance, const Objective& objective, const Metrics& start,
                              const AssignOptions& options) {
    if (!objective.additive()) return solve_on_hull(instance, objective, start, options);
    VIRIDIAN_TRY(Outcome best, solve_additive(instance, objective.weights(start), options));
    return best.assignment.gap() > 0 ? least_of_all(std::move(best), instance, objective, start, options)
                                     : best;
}

}  // namespace

const SolverRow exact_solver = {"exact", "nothing ignored; says how far from the optimum it may be",
                                expect_two_metrics, solve_exactly};

}  // namespace viridian::search
