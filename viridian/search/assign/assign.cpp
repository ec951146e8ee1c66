#include "viridian/search/assign/assign.hpp"

#include <algorithm>

#include "viridian/search/assign/baselines.hpp"

namespace viridian::search {

namespace {

double cheapest_kernels(const Instance& instance, const plan::Assignment& assignment,
                        const Weights& weights) {
    double sum = 0;
    for (const plan::AssignedRegion& assigned : assignment.regions)
        for (const std::uint32_t c : instance.candidates_of(assigned.region.nodes.front())) {
            const Candidate& candidate = instance.candidates()[c];
            if (candidate.region.nodes != assigned.region.nodes) continue;
            double least = infinite;
            for (const Option& option : candidate.options)
                least = std::min(least, weights.of(option.metrics));
            sum += least;
            break;
        }
    return sum;
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
    VIRIDIAN_TRY(options.solver->can(objective));
    VIRIDIAN_TRY(Outcome outcome, options.solver->solve(instance, objective, start, options));
    outcome.start = start;
    if (objective.additive())
        outcome.assignment.cheapest_kernels =
            cheapest_kernels(instance, outcome.assignment, objective.weights(start));
    if (!objective.within_limit(outcome.totals, start))
        return fail(ErrorCode::missing_entry, "solve it with `exact`, or allow more",
                    "the plan of `{}` does not keep the limit of `{}`", options.solver->name,
                    text(objective));
    return outcome;
}

}  // namespace viridian::search
