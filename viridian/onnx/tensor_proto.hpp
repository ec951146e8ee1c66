#pragma once
// TensorProto ⇄ graph::Tensor: raw bytes, or one of the typed fields (16-bit floats and small integers in
// int32_data), or external data. All little-endian, as ONNX says.
#include "viridian/onnx/external_data.hpp"

namespace viridian::onnx {

// Takes the raw bytes out of `proto` instead of copying them where `take` is set.
// Errors: malformed (dims, lengths), limit_exceeded, unsupported (element type).
[[nodiscard]] Result<graph::Tensor> to_tensor(TensorProto& proto, ExternalData& external, bool take);
[[nodiscard]] Result<graph::Tensor> to_tensor(const TensorProto& proto, ExternalData& external);

// Writes type, dims and raw bytes.
void to_proto(const graph::Tensor& tensor, TensorProto& proto);

}  // namespace viridian::onnx
