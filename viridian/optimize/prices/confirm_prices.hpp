#pragma once
// Times again the prices that decide, before a plan is believed: those of the choices that the assignment
// took and of those that nearly won. The assignment is then solved anew.
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/search/assign/assign.hpp"

namespace viridian::optimize {

// Repeats this until the assignment of `graph` rests on prices that were timed on several occasions, or a
// few times. With a database that knows them nothing is timed. With `rivals` false only the chosen prices
// are timed again. Errors: those of pricing and solving.
[[nodiscard]] Result<void> confirm_prices(const graph::Graph& graph, Costs& costs,
                                          const search::Objective& objective,
                                          const search::AssignOptions& solver, bool rivals);

}  // namespace viridian::optimize
