#pragma once
// The published ways to choose, kept so that every comparison can be run again.
#include "viridian/search/assign.hpp"

namespace viridian::search {

// What frameworks do: every node alone, by the first kernel the library offers.
[[nodiscard]] Result<Outcome> solve_first(const Instance& instance);

// EAGO, Algorithm 2: from the first choices, any better assignment that differs in at most `distance`
// regions, until there is none. Regions are the largest ones (the paper's engine fuses beforehand).
[[nodiscard]] Result<Outcome> solve_greedy(const Instance& instance, const Objective& objective,
                                           const Metrics& start, std::size_t distance,
                                           const SolveOptions& limits);

// The same descent from another solution's regions and choices.
[[nodiscard]] Result<Outcome> improve(const Instance& instance, const Outcome& from,
                                      const Objective& objective, const Metrics& start, std::size_t distance,
                                      const SolveOptions& limits);

// SUBSTATION VI-A: single-source shortest paths through (region, format), path by path in depth-first order;
// edges back into what is settled (residuals) are ignored, and converted afterwards.
[[nodiscard]] Result<Outcome> solve_shortest_path(const Instance& instance, const Weights& weights);

}  // namespace viridian::search
