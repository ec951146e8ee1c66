#pragma once
// Brings the protobuf message classes of ONNX into our namespace. Only this room includes it.
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

// These name the domain of functions that stand for operators of ours, and the metadata that names the
// operator, "domain:name". Metadata of functions are newer than the message classes: field 14 of
// FunctionProto.
inline constexpr std::string_view private_domain = "viridian";
inline constexpr std::string_view operator_key = "viridian.operator";
inline constexpr int function_metadata = 14;

// These convert between the numbers of ONNX's element types and ours. Types that are not held (strings,
// complex numbers, floats of 8 bits or fewer, integers of 4 bits or fewer) become `undefined`.
[[nodiscard]] graph::ElementType element_type(std::int32_t onnx_type);
[[nodiscard]] std::int32_t onnx_type(graph::ElementType type);
// Returns the name of an ONNX type for errors: "float8e5m2", or "type 99" if it is unknown.
[[nodiscard]] std::string name_of_onnx_type(std::int32_t onnx_type);

}  // namespace viridian::onnx
