#pragma once
// with_casts() writes the precisions of an assignment into the graph, so that other ONNX runtimes use them
// too. An operator whose kernel reads bf16 becomes a bf16 operator, with explicit Casts around it (one per
// value and direction) and weights that are stored in bf16. The inputs and outputs of the graph stay f32. Our
// kernels keep values inside a region in f32; other runtimes round them after each operator.
#include "viridian/plan/assignment.hpp"

namespace viridian::plan {

// Returns that graph, or `graph` unchanged if the assignment rounds nothing. Errors: malformed (a cycle).
[[nodiscard]] Result<graph::Graph> with_casts(const graph::Graph& graph, const Assignment& assignment);

// Returns a graph for runtimes without bf16 kernels. Weights of at least two dimensions that the assignment
// reads in bf16 are stored in bf16, each followed by a Cast to f32. All operators and activations stay f32.
// Errors: malformed (a cycle).
[[nodiscard]] Result<graph::Graph> with_weights_cast(const graph::Graph& graph, const Assignment& assignment);

// Counts the Casts between f32 and bf16 in `graph`.
[[nodiscard]] std::size_t count_casts(const graph::Graph& graph);

}  // namespace viridian::plan
