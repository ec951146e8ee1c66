#pragma once
// Who defines and who reads each name, before anything is built: the order of nodes, and what a nested graph
// takes from the graphs around it.
#include <string_view>
#include <vector>

#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {

// Names that `body` reads and does not define, nested graphs included; in order of first use, each once.
[[nodiscard]] std::vector<std::string> free_names(const GraphProto& body);

// Names that a node reads, those its nested graphs take from outside included.
[[nodiscard]] std::vector<std::string> names_read(const NodeProto& node);

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

// Positions of `nodes` with producers before readers, the given order kept where it can be; `outside` are the
// names known before the first node. Errors: malformed for a name defined twice, one that nothing defines, a
// cycle.
[[nodiscard]] Result<std::vector<int>> node_order(const Nodes& nodes,
                                                  const std::vector<std::string_view>& outside);

// "`layer1.conv` (Conv)", or the first output's name for a node without one.
[[nodiscard]] std::string name_of(const NodeProto& node);

}  // namespace viridian::onnx
