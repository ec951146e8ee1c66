#pragma once
// Declares the solvers that others are compared with, for callers that combine them (solvers.hpp has all).
#include "viridian/search/assign/solvers.hpp"

namespace viridian::search {

// Does what frameworks do: it covers the graph by single nodes and gives each the first kernel that the
// library offers and that does not work in place. Errors: unsupported (a node has no kernel of its own, or
// the first kernels do not fit together).
[[nodiscard]] Result<Outcome> solve_first(const Instance& instance);

// Implements EAGO, Algorithm 2: it starts from the first choices and takes any better assignment that
// differs in at most `distance` regions, until there is none or `limits` end the search. `start` holds the
// totals that mixes and limits refer to. It covers the graph by the largest regions, because the paper's
// engine fuses beforehand. Errors: unsupported (the first choices do not fit together).
[[nodiscard]] Result<Outcome> solve_greedy(const Instance& instance, const Objective& objective,
                                           const Metrics& start, std::size_t distance,
                                           const SolveOptions& limits);

// Does the same, starting from the regions and choices of `from`.
[[nodiscard]] Result<Outcome> improve(const Instance& instance, const Outcome& from,
                                      const Objective& objective, const Metrics& start, std::size_t distance,
                                      const SolveOptions& limits);

// PathThrough says which part of a training step shortest paths go through. The regions of the other part
// then take what costs least beside those that are settled.
enum class PathThrough : std::uint8_t {
    all,       // one network of both parts
    forward,   // the forward part, as in the paper, which has the backward part follow it
    backward,  // everything after the forward part, which the paper's released code can begin with
};

// Implements SUBSTATION, section VI-A: it finds single-source shortest paths through pairs of region and
// format, path by path in depth-first order. Edges back into regions that are settled (residuals) are
// ignored, and their values are converted afterwards. Errors: unsupported (the kernels found do not fit
// together).
[[nodiscard]] Result<Outcome> solve_shortest_path(const Instance& instance, const Weights& weights,
                                                  PathThrough through = PathThrough::all);

}  // namespace viridian::search
