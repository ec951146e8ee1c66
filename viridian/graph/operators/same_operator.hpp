#pragma once
// Compares what nodes do, whatever they read.
#include "viridian/graph/graph.hpp"

namespace viridian::graph {

// Returns whether `a` and `b` hold equal keys and values. Tensors are compared by content.
[[nodiscard]] bool same_attributes(const Attributes& a, const Attributes& b);

// Returns whether `a` and `b` apply one operator of one domain with equal attributes.
[[nodiscard]] bool same_operator(const Node& a, const Node& b);

}  // namespace viridian::graph
