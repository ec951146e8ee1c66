#pragma once
// Replaces nodes by their bodies, so that what a private operator or a function means can be differentiated.
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// Replaces node `id`, which has exactly one body and as many inputs as it, by the nodes of the body. They get
// the origin of the node. Its outputs keep their names. Errors: those of type inference.
[[nodiscard]] Result<void> inline_body(graph::Graph& graph, graph::NodeId id);

}  // namespace viridian::gradient
