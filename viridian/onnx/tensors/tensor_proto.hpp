#pragma once
// Converts between TensorProto and graph::Tensor. The elements of a message are raw bytes, one of the typed
// fields (16-bit floats and small integers in int32_data), or external data; all are little-endian
// (onnx.proto).
#include "viridian/onnx/tensors/external_data.hpp"

namespace viridian::onnx {

// The tensor that a message holds. If `take`, its raw bytes are moved out of `proto` instead of copied.
// Errors: malformed (dims, lengths), limit_exceeded, unsupported (element type).
[[nodiscard]] Result<graph::Tensor> to_tensor(TensorProto& proto, ExternalData& external, bool take);
[[nodiscard]] Result<graph::Tensor> to_tensor(const TensorProto& proto, ExternalData& external);

// Writes element type, dimensions and raw bytes into `proto`.
void to_proto(const graph::Tensor& tensor, TensorProto& proto);

}  // namespace viridian::onnx
