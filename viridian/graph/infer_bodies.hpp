#pragma once
// infer_bodies() derives the types inside the bodies of a node (If, Loop, Scan, functions) from the types of
// the node's inputs.
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Returns the type that holds for values of type `a` and of type `b`: it keeps only the facts on which both
// agree.
[[nodiscard]] TensorType join(const TensorType& a, const TensorType& b);
// Returns the facts that either type knows; if both know a fact and differ, that of `a`.
[[nodiscard]] TensorType meet(const TensorType& a, const TensorType& b);

// Returns `node` with typed bodies; `inputs` are the types of its inputs. A state of a Loop gets the type
// that holds in every iteration. Errors: mismatch (a body takes another number of values), and the errors of
// the shape rules.
[[nodiscard]] Result<Node> infer_bodies(Node node, const std::vector<TensorType>& inputs);

// Returns the types of the outputs of `body`.
[[nodiscard]] std::vector<TensorType> output_types(const Graph& body);

}  // namespace viridian::graph
