#pragma once
// Branch and bound over reparametrised problems: best bound first, but each dive is followed down until it
// closes. A part whose tables are small is finished by elimination.
#include "viridian/search/exact/solve.hpp"

namespace viridian::search {

[[nodiscard]] Solution branch_and_bound(const Problem& problem, const SolveOptions& options);

}  // namespace viridian::search
