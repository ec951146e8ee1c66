#pragma once
// Declares the solvers that others are compared with, for callers that combine them (solvers.hpp has all).
#include "viridian/search/assign/solvers.hpp"

namespace viridian::search {

// Does what frameworks do: every node alone, by the first kernel that the library offers.
[[nodiscard]] Result<Outcome> solve_first(const Instance& instance);

// EAGO, Algorithm 2: starts from the first choices and takes any better assignment that differs in at most
// `distance` regions, until there is none. It covers the graph by the largest regions, because the paper's
// engine fuses beforehand.
[[nodiscard]] Result<Outcome> solve_greedy(const Instance& instance, const Objective& objective,
                                           const Metrics& start, std::size_t distance,
                                           const SolveOptions& limits);

// Does the same from another solution's regions and choices.
[[nodiscard]] Result<Outcome> improve(const Instance& instance, const Outcome& from,
                                      const Objective& objective, const Metrics& start, std::size_t distance,
                                      const SolveOptions& limits);

// SUBSTATION VI-A: single-source shortest paths through (region, format), path by path in depth-first order;
// edges back into what is settled (residuals) are ignored, and converted afterwards.
[[nodiscard]] Result<Outcome> solve_shortest_path(const Instance& instance, const Weights& weights);

}  // namespace viridian::search
