#pragma once
// Reads the sparse constants of a model as dense tensors.
#include "viridian/onnx/tensors/external_data.hpp"

namespace viridian::onnx {

// Returns the sparse constant as a dense tensor. Its indices are linear, or one row of coordinates per
// value. Errors: malformed, limit_exceeded (more than 256 MiB in all of a model).
[[nodiscard]] Result<graph::Tensor> dense(const ::onnx::SparseTensorProto& sparse, ExternalData& external);

}  // namespace viridian::onnx
