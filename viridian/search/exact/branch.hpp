#pragma once
// Solves a problem by branch and bound over reparametrised problems (bound.hpp): the part of least bound
// first, but each dive is followed down until it closes. A part whose tables are small is finished by
// elimination.
#include "viridian/search/exact/solve.hpp"

namespace viridian::search {

// Returns the best assignment found. If the time limit of `options` ends the search, its proven bound may
// lie below its value. The result is deterministic unless time runs out.
[[nodiscard]] Solution branch_and_bound(const Problem& problem, const SolveOptions& options);

}  // namespace viridian::search
