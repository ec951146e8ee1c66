#pragma once
// Before a plan is believed: what it chose and what nearly won is timed again, and chosen anew.
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/search/assign/assign.hpp"

namespace viridian::optimize {

// Until the assignment of `graph` rests on prices that were timed on several occasions, or a few times. With
// a database that knows them nothing is timed. With `rivals` false only what is chosen. Errors: those of
// pricing and solving.
[[nodiscard]] Result<void> confirm_prices(const graph::Graph& graph, Costs& costs,
                                          const search::Objective& objective,
                                          const search::AssignOptions& solver, bool rivals);

}  // namespace viridian::optimize
