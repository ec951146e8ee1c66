#pragma once
// Reads and writes single tensors: NumPy's .npy (viridian/data/npy.hpp) and ONNX's .pb (one TensorProto).
#include "viridian/base/file.hpp"
#include "viridian/graph/tensor.hpp"

namespace viridian::onnx {

// A NamedTensor is a tensor with the name that its file gives.
struct NamedTensor {
    std::string name;  // "" if the file has none, as .npy files
    graph::Tensor tensor;
};

// These read and write a file whose extension says its format. Errors: file_not_found, file_unreadable,
// file_not_writable, invalid_argument (extension), malformed, unsupported (element type).
[[nodiscard]] Result<NamedTensor> read_tensor_file(const Path& path);
[[nodiscard]] Result<void> write_tensor_file(const Path& path, const NamedTensor& tensor);

// Reads the bytes of a .pb file; `name` stands for it in errors. Errors: malformed, unsupported.
[[nodiscard]] Result<NamedTensor> parse_tensor_proto(std::string_view bytes, std::string_view name);

}  // namespace viridian::onnx
