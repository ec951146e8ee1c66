#pragma once
// Converts between TensorProto and graph::Tensor. A message holds its elements as raw bytes, in one of the
// typed fields (int32_data also holds 16-bit floats and small integers), or as external data. Raw and
// external bytes are little-endian (onnx.proto).
#include "viridian/onnx/tensors/external_data.hpp"

namespace viridian::onnx {

// Returns the tensor that a message holds. If `take` is true, its raw bytes may be moved out of `proto`
// instead of copied. Errors: malformed (dims, lengths), limit_exceeded, unsupported (element type), and those
// of `external`.
[[nodiscard]] Result<graph::Tensor> to_tensor(TensorProto& proto, ExternalData& external, bool take);
[[nodiscard]] Result<graph::Tensor> to_tensor(const TensorProto& proto, ExternalData& external);

// Writes element type, dimensions and raw bytes into `proto`.
void to_proto(const graph::Tensor& tensor, TensorProto& proto);

}  // namespace viridian::onnx
