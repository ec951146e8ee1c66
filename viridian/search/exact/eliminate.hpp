#pragma once
// Solves a problem exactly by dynamic programming, eliminating one variable at a time: a variable goes once
// the cheapest of its states is known for every combination of its neighbours' states, kept as a table. With
// at most two neighbours these are the PBQP reductions R0, RI, RII (Anderson and Gregg, CGO 2018); with more
// it is dynamic programming along the tree decomposition that the order stands for (Bertelè and Brioschi
// 1972; Dechter 1999).
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {

// An EliminationOrder is an order of elimination, with its cost.
struct EliminationOrder {
    std::vector<Variable> order;
    double entries = 0;     // sum over all tables
    double work = 0;        // additions: each table's entries times the states of the variable that made it
    std::size_t width = 0;  // most neighbours of a variable when it goes
};

// Returns the cheapest of three greedy orders: by smallest table, by fewest and by lightest fill edges.
[[nodiscard]] EliminationOrder elimination_order(const Problem& problem);

// Returns the optimum that eliminating the variables in this `order` finds. Its states are empty if every
// assignment is infinite.
[[nodiscard]] Solution eliminate(const Problem& problem, std::span<const Variable> order);

}  // namespace viridian::search
