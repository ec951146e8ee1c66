#include "viridian/search/baselines.hpp"
#include "viridian/search/selection.hpp"

namespace viridian::search {

Result<Outcome> solve_first(const Instance& instance) {
    VIRIDIAN_TRY(std::vector<std::uint32_t> cover, single_cover(instance));
    const Selection selection(instance, std::move(cover));
    Outcome outcome{selection.assignment(), selection.totals(), {}, 0};
    if (outcome.totals.seconds == infinite)
        return fail(ErrorCode::unsupported, "choose the solver `exact`",
                    "the first kernels do not fit together");
    outcome.assignment.solver = name_of(Solver::first);
    outcome.assignment.bound = -infinite;
    return outcome;
}

}  // namespace viridian::search
