#include "viridian/search/assign/assign.hpp"

#include "viridian/search/assign/baselines.hpp"

namespace viridian::search {

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
    if (!objective.within_limit(outcome.totals, start))
        return fail(ErrorCode::missing_entry, "solve it with `exact`, or allow more",
                    "the plan of `{}` does not keep the limit of `{}`", options.solver->name,
                    text(objective));
    return outcome;
}

}  // namespace viridian::search
