#pragma once
// Turns a graph and its costs into the cheapest assignment: algorithm, fusion, layout and precision are one
// decision (docs/search.md).
#include "viridian/search/assign/encode.hpp"
#include "viridian/search/objective/objective.hpp"

namespace viridian::search {

struct Outcome {
    plan::Assignment assignment;
    Metrics totals;  // predicted
    Metrics start;   // what mixes and limits were relative to; zero if nothing was
    // Values with too many sets of formats, for which only direct conversions were considered.
    std::size_t restricted_values = 0;
};

// Solves an instance by `options.solver`; an instance can be solved under any number of objectives.
// Errors: the solver's, among them unsupported if it cannot minimise the objective or no assignment exists,
// and cancelled; missing_entry if its plan does not keep the objective's limit.
[[nodiscard]] Result<Outcome> solve(const Instance& instance, const Objective& objective,
                                    const AssignOptions& options = {});

// One additive problem, exactly. Errors: unsupported if no assignment exists; cancelled.
[[nodiscard]] Result<Outcome> solve_additive(const Instance& instance, const Weights& weights,
                                             const AssignOptions& options);

}  // namespace viridian::search
