#pragma once
// Brings the protobuf message classes of ONNX into our namespace, and converts between the numbers of ONNX's
// element types and ours. Only this room includes it.
#include <onnx/onnx_pb.h>

#include "viridian/graph/graph.hpp"

namespace viridian::onnx {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::TypeProto;
using ::onnx::ValueInfoProto;

// An operator that other runtimes lack is written as a call of a model function in the domain
// `private_domain`, whose body says in standard operators what it means. The metadata entry `operator_key` of
// the function names the operator, "domain:name". The message classes are older than metadata of functions,
// so the entry stands in the field of FunctionProto with the number `function_metadata`.
inline constexpr std::string_view private_domain = "viridian";
inline constexpr std::string_view operator_key = "viridian.operator";
inline constexpr int function_metadata = 14;

// Metadata of nodes (in the field of NodeProto with the number `node_metadata`): the names that a node comes
// from, one a line, its phase in a training step, and its forward twin. Metadata of the model: its states.
inline constexpr int node_metadata = 9;
inline constexpr std::string_view origin_key = "viridian.origin";
inline constexpr std::string_view phase_key = "viridian.phase";
inline constexpr std::string_view twin_key = "viridian.twin";
inline constexpr std::string_view states_key = "viridian.states";

// These convert between the numbers of ONNX's element types and ours. Types that are not held (strings,
// complex numbers, floats of 8 bits or fewer, integers of 4 bits or fewer) become `undefined`.
[[nodiscard]] graph::ElementType element_type(std::int32_t onnx_type);
[[nodiscard]] std::int32_t onnx_type(graph::ElementType type);
// Returns the name of an ONNX type for errors: "float8e5m2", or "type 99" if it is unknown.
[[nodiscard]] std::string name_of_onnx_type(std::int32_t onnx_type);

}  // namespace viridian::onnx
