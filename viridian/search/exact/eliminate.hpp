#pragma once
// Exact dynamic programming by eliminating variables one at a time: a variable goes once the cheapest of its
// states is known for every combination of its neighbours' states, kept as a table. With at most two
// neighbours these are the PBQP reductions R0, RI, RII (Anderson and Gregg, CGO 2018); with more, dynamic
// programming along the tree decomposition that the order stands for (Bertelè and Brioschi 1972; Dechter
// 1999).
#include "viridian/search/problem.hpp"

namespace viridian::search {

struct EliminationOrder {
    std::vector<Variable> order;
    double entries = 0;  // of all tables together
    double work = 0;     // of all tables times the states of the variable that made them
    std::size_t width = 0;
};

// The cheapest of the orders by smallest table, by fewest fill edges and by lightest fill edges.
[[nodiscard]] EliminationOrder elimination_order(const Problem& problem);

// The optimum. Its states are empty where every assignment is infinite.
[[nodiscard]] Solution eliminate(const Problem& problem, std::span<const Variable> order);

}  // namespace viridian::search
