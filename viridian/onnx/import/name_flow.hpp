#pragma once
// Finds out, before anything is built, which node defines and which nodes read each name. This gives the
// order of nodes and the names that a nested graph captures from the graphs outside it.
#include <string_view>
#include <vector>

#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {

// Returns the names that `body` and the graphs nested in it read but do not define, in order of first use,
// each once.
[[nodiscard]] std::vector<std::string> free_names(const GraphProto& body);

// Returns the names that a node and the graphs nested in it read from outside the node, each once.
[[nodiscard]] std::vector<std::string> names_read(const NodeProto& node);

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

// Returns the positions of `nodes` in an order in which producers come before readers; the given order is
// kept if possible. `outside` are the names that are known before the first node. Errors: malformed for a
// name defined twice, one that nothing defines, a cycle.
[[nodiscard]] Result<std::vector<int>> node_order(const Nodes& nodes,
                                                  const std::vector<std::string_view>& outside);

// Returns the name of a node for errors: "`layer1.conv` (Conv)". A node without a name is called by its
// first output.
[[nodiscard]] std::string name_of(const NodeProto& node);

}  // namespace viridian::onnx
