#include "viridian/search/assign/solvers.hpp"

#include <algorithm>

namespace viridian::search {

extern const SolverRow greedy_solver, shortest_path_solver, forward_path_solver, backward_path_solver;

std::span<const SolverRow* const> solvers() {
    static constexpr const SolverRow* rows[] = {&exact_solver,         &greedy_solver,
                                                &shortest_path_solver, &forward_path_solver,
                                                &backward_path_solver, &first_solver};
    return rows;
}

Result<const SolverRow*> find_solver(std::string_view name) {
    for (const SolverRow* solver : solvers())
        if (solver->name == name) return solver;
    return fail(ErrorCode::invalid_argument, "choose " + solver_names(), "no solver is called `{}`", name);
}

std::string solver_names() {
    std::string names;
    for (const SolverRow* solver : solvers())
        names += fmt::format("{}{}",
                             names.empty()                ? ""
                             : solver == solvers().back() ? " or "
                                                          : ", ",
                             solver->name);
    return names;
}

Result<void> solves_all(const Objective&) { return {}; }

}  // namespace viridian::search
