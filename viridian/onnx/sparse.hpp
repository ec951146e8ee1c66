#pragma once
#include "viridian/onnx/external_data.hpp"

namespace viridian::onnx {

// A sparse constant, filled out. Indices are linear, or one row of coordinates per value.
// Errors: malformed, limit_exceeded beyond 256 MiB in all of a model.
[[nodiscard]] Result<graph::Tensor> dense(const ::onnx::SparseTensorProto& sparse, ExternalData& external);

}  // namespace viridian::onnx
