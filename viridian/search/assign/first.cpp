// | `first` | what frameworks do today | every node alone, by its first kernel that is not in place |
// everything: takes the first kernel that the library offers |
#include "viridian/search/assign/baselines.hpp"
#include "viridian/search/assign/selection.hpp"

namespace viridian::search {

Result<Outcome> solve_first(const Instance& instance) {
    VIRIDIAN_TRY(std::vector<std::uint32_t> cover, single_cover(instance));
    const Selection selection(instance, std::move(cover));
    Outcome outcome = outcome_of(selection, first_solver);
    if (!outcome.totals.possible())
        return fail(ErrorCode::unsupported, "choose the solver `exact`",
                    "the first kernels do not fit together");
    return outcome;
}

const SolverRow first_solver = {
    "first", "what frameworks do: each node alone, by the first kernel that the library offers", solves_all,
    [](const Instance& instance, const Objective& objective, const Metrics& start,
       const AssignOptions&) -> Result<Outcome> {
        VIRIDIAN_TRY(Outcome outcome, solve_first(instance));
        outcome.assignment.value = objective.value(outcome.totals, start);
        return outcome;
    }};

}  // namespace viridian::search
