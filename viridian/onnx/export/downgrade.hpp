#pragma once
// Rewrites a node from the newest meaning of its operator into what an older operator set (17 and up) can
// say.
#include "viridian/graph/operators/row.hpp"

namespace viridian::onnx {

inline constexpr int oldest_written_opset = graph::oldest_operator_set;

// Returns the oldest operator set, from 17 on, that can say this node.
[[nodiscard]] int needed_opset(const graph::Graph& graph, const graph::Node& node);

// Rewrites the node for operator set `opset` >= needed_opset: inputs become attributes again, and defaults
// that an older set does not know are dropped. Swish below set 24, which few readers know, and private
// operators whose row says what they mean get their meaning as a body. The caller leaves out constants that
// are no longer read.
void downgrade(const graph::Graph& graph, graph::Node& node, int opset);

// Returns the ONNX IR version of files that use operator set `opset`.
[[nodiscard]] int ir_version_of(int opset);

}  // namespace viridian::onnx
