#include "viridian/search/exact/solve.hpp"

#include "viridian/search/exact/eliminate.hpp"

namespace viridian::search {

Solution solve_exact(const Problem& problem, const SolveOptions& options) {
    for (Variable v = 0; v < problem.size(); ++v)
        if (problem.states(v) == 0) return {{}, infinite, infinite};
    const EliminationOrder order = elimination_order(problem);
    if (order.entries <= options.most_entries) return eliminate(problem, order.order);
    return {};
}

}  // namespace viridian::search
