#pragma once
// Types inside the bodies of a node: those of the values that its operator hands to each body.
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// What is true of both: the element type, and the dimensions in which they agree.
[[nodiscard]] TensorType join(const TensorType& a, const TensorType& b);
// What is known from either, `a` first where they differ.
[[nodiscard]] TensorType meet(const TensorType& a, const TensorType& b);

// Returns `node` with its bodies typed, given its inputs' types. A Loop's states get the types that hold in
// every iteration. Errors: mismatch (a body of another arity), and those of the shape rules.
[[nodiscard]] Result<Node> infer_bodies(Node node, const std::vector<TensorType>& inputs);

// Types of a body's outputs.
[[nodiscard]] std::vector<TensorType> output_types(const Graph& body);

}  // namespace viridian::graph
