#pragma once
// Solves an abstract problem to proof; if time runs out, it returns the best found and a proven lower bound
// (docs/search.md). This is what the solver `exact` stands on.
#include <functional>

#include "viridian/base/units.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

struct SolveOptions {
    double most_entries = 1e8;  // largest tables of dynamic programming
    Seconds time_limit{10};     // for branch and bound, and for labels
    double tolerance = 0;       // relative gap that is not worth closing, if the objective is not additive
    std::function<bool()> cancelled;
};

// The states are empty if every assignment is infinite, in which case the bound is infinite too, or if none
// was found in time. Deterministic, except for when time runs out.
[[nodiscard]] Solution solve_exact(const Problem& problem, const SolveOptions& options = {});

}  // namespace viridian::search
