#pragma once
// Lists the solvers. `exact` comes from this project; the others are the published ways to choose, kept so
// that every comparison can be run again. A new solver is its own source with its row, a line in
// solvers.cpp, and a test.
#include "viridian/search/assign/assign.hpp"

namespace viridian::search {

struct SolverRow {
    std::string_view name;
    std::string_view summary;  // for help texts
    // Checks, before anything is priced, whether the solver can minimise `objective`. Errors: unsupported.
    Result<void> (*can)(const Objective& objective);
    // Returns the best assignment that the solver found. `start` holds the totals that the objective is
    // relative to. Errors: unsupported if no assignment is found, cancelled.
    Result<Outcome> (*solve)(const Instance& instance, const Objective& objective, const Metrics& start,
                             const AssignOptions& options);
};
// `first` takes each node alone, with the first kernel that the library offers. It is declared here because
// other rooms start from its plan; find_solver() returns the others.
extern const SolverRow first_solver;

// Returns all solvers, `exact` first.
[[nodiscard]] std::span<const SolverRow* const> solvers();
// Returns the solver of this name. Errors: invalid_argument, with the list of names.
[[nodiscard]] Result<const SolverRow*> find_solver(std::string_view name);
[[nodiscard]] std::string solver_names();  // "exact, greedy, … or first"
// Accepts every objective. Solvers that minimise any of them have it as their `can`.
[[nodiscard]] Result<void> solves_all(const Objective& objective);

}  // namespace viridian::search
