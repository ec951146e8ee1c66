#pragma once
// Choices that the noise of their prices alone may have kept in or out of an assignment: what to time again
// before it is believed. An assignment picks the minimum of noisy prices, so what it picked looks cheaper
// than it is (the winner's curse), and a close rival may have lost to chance.
#include "viridian/cost/source.hpp"
#include "viridian/plan/assignment.hpp"

namespace viridian::search {

// What `assignment` chose, and in `graph`:
//  - other choices of a chosen region, from where their interval comes within `margin` of the chosen price;
//  - choices of a region that merges chosen ones and comes as close to their sum;
//  - the parts into which a chosen region would be cut cheapest, where they come as close to its price.
// Prices outside the region (conversions, what formats cost elsewhere) are not weighed: they add to both
// sides or decide by more than noise. Each (signature, choice) once. Errors: the source's.
[[nodiscard]] Result<std::vector<plan::AssignedRegion>> contenders(const graph::Graph& graph,
                                                                   const std::vector<plan::Region>& regions,
                                                                   const cost::Source& source,
                                                                   const plan::Assignment& assignment,
                                                                   double margin = 0.03);

}  // namespace viridian::search
