#pragma once
// Solver `exact`: the optimum of an abstract problem, with proof; or, where time runs out, the best found and
// a proven lower bound (docs/search.md).
#include <functional>

#include "viridian/base/units.hpp"
#include "viridian/search/problem.hpp"

namespace viridian::search {

struct SolveOptions {
    double most_entries = 1e8;  // of dynamic programming's tables
    Seconds time_limit{10};     // of branch and bound
    // Relative gap that is not worth closing; of problems that are not additive.
    double tolerance = 0;
    std::function<bool()> cancelled;
};

// Deterministic, but for where the time limit cuts. Empty states: every assignment is infinite (bound then
// says so), or none was found in time.
[[nodiscard]] Solution solve_exact(const Problem& problem, const SolveOptions& options = {});

}  // namespace viridian::search
