#pragma once
// The vendor's message classes, under our namespace; seen only inside this room.
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

// undefined for the types that we refuse: strings, complex, 8-bit floats, 4-bit integers.
[[nodiscard]] graph::ElementType element_type(std::int32_t onnx_type);
[[nodiscard]] std::int32_t onnx_type(graph::ElementType type);
[[nodiscard]] std::string name_of_onnx_type(std::int32_t onnx_type);  // "STRING", "type 23"

}  // namespace viridian::onnx
