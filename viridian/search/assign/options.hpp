#pragma once
// Defines what a caller may decide about an assignment: who solves it, under which limits, and which formats
// and precisions are fixed beforehand.
#include <map>
#include <optional>
#include <vector>

#include "viridian/graph/graph.hpp"
#include "viridian/plan/format.hpp"
#include "viridian/search/exact/solve.hpp"
#include "viridian/search/metrics.hpp"

namespace viridian::search {

struct SolverRow;  // solvers.hpp
extern const SolverRow exact_solver;

// Formats of graph inputs and outputs; those that are missing are plain, in host memory.
using Boundary = std::map<graph::ValueId, plan::Format>;

struct EncodeOptions {
    // Values with more sets of formats than this get one variable per format, and direct conversions only.
    std::size_t most_sets = 256;
    // If sets must be exactly those asked for: values with more states at a reader get one format only.
    std::size_t most_asked = 1024;
};

struct AssignOptions {
    const SolverRow* solver = &exact_solver;
    std::size_t distance = 1;  // of `greedy`: how many regions may change at once
    SolveOptions exact;
    EncodeOptions encode;
    Boundary boundary;
    std::vector<graph::NodeId> keep_f32;  // no choice rounds to bf16 at these nodes
    // Totals of the plan that mixes and limits are relative to; if absent, that of the solver `first`.
    std::optional<Metrics> start;
};

}  // namespace viridian::search
