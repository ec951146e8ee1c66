#pragma once
// The precision of an assignment, said in ONNX's words: a graph whose operators are typed bf16 where the
// assignment's kernels read bf16, with explicit Casts between, one per value and direction, and weights
// stored in bf16. Inputs and outputs stay f32. What kernels keep in f32 inside a region (sums, epilogues)
// other runtimes round at each operator.
#include "viridian/plan/assignment.hpp"

namespace viridian::plan {

// The graph itself where nothing rounds. Errors: malformed for a cycle.
[[nodiscard]] Result<graph::Graph> with_casts(const graph::Graph& graph, const Assignment& assignment);

// For runtimes without bf16 kernels: weights that the assignment reads in bf16 (of two dimensions or more)
// are stored so, a Cast to f32 behind each; all operators and activations in f32. Errors: as above.
[[nodiscard]] Result<graph::Graph> with_weights_cast(const graph::Graph& graph, const Assignment& assignment);

// Casts between f32 and bf16 in the graph.
[[nodiscard]] std::size_t count_casts(const graph::Graph& graph);

}  // namespace viridian::plan
