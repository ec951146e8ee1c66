#pragma once
// Solves a problem by branch and bound over reparametrised problems (bound.hpp): the part of least bound
// first, but each dive is followed down until it closes. A part whose tables are small is finished by
// elimination.
#include "viridian/search/exact/solve.hpp"

namespace viridian::search {

// Returns the best found and a proven bound when time is up. Deterministic, except for when time runs out.
[[nodiscard]] Solution branch_and_bound(const Problem& problem, const SolveOptions& options);

}  // namespace viridian::search
