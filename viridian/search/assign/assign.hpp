#pragma once
// Turns a graph and its costs into the cheapest assignment: algorithm, fusion, layout and precision are one
// decision (docs/search.md).
#include "viridian/search/assign/encode.hpp"
#include "viridian/search/objective/objective.hpp"

namespace viridian::search {

// An Outcome is the assignment that a solver found, with its totals.
struct Outcome {
    plan::Assignment assignment;
    Metrics totals;  // predicted
    Metrics start;   // totals of the starting plan; zero if the objective refers to none
    // `restricted_values` is the number of values that had too many sets of formats, so that not all ways
    // to convert them were considered.
    std::size_t restricted_values = 0;
};

// Solves `instance` by `options.solver`; an instance can be solved under any number of objectives. Errors:
// those of the solver, such as unsupported (it cannot minimise `objective`, or no assignment exists) and
// cancelled; missing_entry if its plan does not keep the limit of `objective`.
[[nodiscard]] Result<Outcome> solve(const Instance& instance, const Objective& objective,
                                    const AssignOptions& options = {});

// Solves the one additive problem that `weights` define, to proof or until the time limit of
// `options.exact`. Errors: unsupported if no assignment exists; cancelled if none was found in time.
[[nodiscard]] Result<Outcome> solve_additive(const Instance& instance, const Weights& weights,
                                             const AssignOptions& options);

}  // namespace viridian::search
