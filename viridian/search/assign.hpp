#pragma once
// From a graph and its costs to the cheapest assignment: algorithm, fusion, layout and precision in one
// decision.
#include "viridian/search/encode.hpp"
#include "viridian/search/exact/solve.hpp"
#include "viridian/search/objective.hpp"

namespace viridian::search {

enum class Solver {
    exact,          // nothing ignored; prints its gap
    greedy,         // EAGO Algorithm 2, distance d
    shortest_path,  // SUBSTATION VI-A
    first,          // each node by the first kernel the library offers
};
[[nodiscard]] std::string_view name_of(Solver solver);
// Errors: invalid_argument, with the list.
[[nodiscard]] Result<Solver> parse_solver(std::string_view name);

struct AssignOptions {
    Solver solver = Solver::exact;
    std::size_t distance = 1;  // greedy
    SolveOptions exact;
    EncodeOptions encode;
    Boundary boundary;
    std::vector<graph::NodeId> keep_f32;  // of this graph: no choice rounds to bf16 there
    // Totals of the plan that mixes and limits are relative to; that of `first` where absent.
    std::optional<Metrics> start;
};

struct Outcome {
    plan::Assignment assignment;
    Metrics totals;  // predicted
    Metrics start;   // what mixes and limits were relative to; zero where not needed
    // Values that have too many sets of formats, so that only direct conversions were considered.
    std::size_t restricted_values = 0;
};

// Errors: the source's; unsupported where no assignment exists; cancelled.
[[nodiscard]] Result<Outcome> solve(const Instance& instance, const Objective& objective,
                                    const AssignOptions& options = {});

// Whether the solver can minimise it. Errors: unsupported (paths under power, products or limits; exact,
// where more than two metrics are not simply added).
[[nodiscard]] Result<void> expect_solvable(const Objective& objective, Solver solver);

// One assignment problem.
[[nodiscard]] Result<Outcome> solve_additive(const Instance& instance, const Weights& weights,
                                             const AssignOptions& options);

[[nodiscard]] Result<plan::Assignment> assign(const graph::Graph& graph,
                                              std::span<const plan::Region> regions,
                                              const cost::Source& source, const Objective& objective,
                                              const AssignOptions& options = {});

}  // namespace viridian::search
