#pragma once
// Solves an abstract problem to proof; if time runs out, it returns the best found and a proven lower bound
// (docs/search.md). The solver `exact` rests on it.
#include <functional>

#include "viridian/base/units.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

// SolveOptions limit the memory and time of a solver.
struct SolveOptions {
    double most_entries = 1e8;  // largest tables of dynamic programming
    Seconds time_limit{10};     // for branch and bound, and for labels
    double tolerance = 0;       // relative gap that is not worth closing, if the objective is not additive
    std::function<bool()> cancelled;
};

// Returns the best assignment found. Its states are empty if every assignment is infinite, in which case
// the bound is infinite too, or if none was found in time. The result is deterministic unless time runs
// out.
[[nodiscard]] Solution solve_exact(const Problem& problem, const SolveOptions& options = {});

}  // namespace viridian::search
