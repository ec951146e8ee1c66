#pragma once
// A plan names the nodes of the graph that a reader of the written .onnx has, so that graph is the one to
// plan and to prove: written, read again, simplified.
#include "viridian/graph/graph.hpp"

namespace viridian::optimize {

// `graph` as `viridian run` has it after `optimize` wrote it, names included. Beyond 2 GB it is not tried,
// and `graph` comes back. Errors: those of writing and reading; broken_invariant where every reading differs.
[[nodiscard]] Result<graph::Graph> as_read_again(const graph::Graph& graph,
                                                 const std::vector<std::string>& without);

}  // namespace viridian::optimize
