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

// A Boundary fixes the formats of graph inputs and outputs; those that it does not name are plain, in host
// memory.
using Boundary = std::map<graph::ValueId, plan::Format>;

// EncodeOptions limit the size of an encoding (encode.hpp).
struct EncodeOptions {
    // Values with more sets of formats than this get one variable per format, and direct conversions only.
    std::size_t most_sets = 256;
    // If sets must hold exactly the formats that readers ask for: a value with more states than this at one
    // reader gets one format for all readers.
    std::size_t most_asked = 1024;
};

// AssignOptions are what a caller may decide about an assignment.
struct AssignOptions {
    const SolverRow* solver = &exact_solver;
    std::size_t distance = 1;  // of `greedy`: how many regions may change at once
    SolveOptions exact;
    EncodeOptions encode;
    Boundary boundary;
    std::vector<graph::NodeId> keep_f32;  // no choice rounds to bf16 at these nodes
    // `start` holds the totals of the plan that mixes and limits are relative to. If it is absent, that is
    // the plan of the solver `first`.
    std::optional<Metrics> start;
};

}  // namespace viridian::search
