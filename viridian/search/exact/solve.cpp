#include "viridian/search/exact/solve.hpp"

#include <algorithm>

#include "viridian/search/exact/branch.hpp"
#include "viridian/search/exact/eliminate.hpp"
#include "viridian/search/exact/reduce.hpp"

namespace viridian::search {
namespace {

constexpr double cheap_work = 1e8;  // additions: well under a second

}  // namespace

Solution solve_exact(const Problem& problem, const SolveOptions& options) {
    for (Variable v = 0; v < problem.size(); ++v)
        if (problem.states(v) == 0) return {{}, infinite, infinite};
    const EliminationOrder order = elimination_order(problem);
    if (order.work <= cheap_work && order.entries <= options.most_entries)
        return eliminate(problem, order.order);

    const Core core(problem);
    Solution solution =
        core.problem().size() == 0 ? Solution{{}, 0, 0} : branch_and_bound(core.problem(), options);
    if (solution.value == infinite || core.constant() == infinite) {
        return {{}, infinite, solution.bound + core.constant()};
    }
    const bool proven = solution.proven();
    solution.states = core.expand(solution.states);
    solution.value = value(problem, solution.states);
    solution.bound = proven ? solution.value : std::min(solution.value, solution.bound + core.constant());
    return solution;
}

}  // namespace viridian::search
