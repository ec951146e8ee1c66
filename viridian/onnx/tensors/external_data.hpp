#pragma once
// Reads tensors that are stored beside the model (ONNX IR specification, "External Tensor Data": location,
// offset, length). Locations outside the model's folder are refused, also if a link leads there.
#include <map>
#include <vector>

#include "viridian/onnx/proto.hpp"
#include "viridian/onnx/tensors/mapped_file.hpp"

namespace viridian::onnx {

// ExternalData are the files of one model that hold external tensors.
class ExternalData {
  public:
    ExternalData() = default;  // no folder: every external tensor is refused
    explicit ExternalData(Path folder) : folder_(std::move(folder)) {}
    // Holds tensors in memory and no folder. A message names a tensor by the location `in_memory` and its
    // number as the offset.
    explicit ExternalData(std::vector<graph::Tensor> tensors) : tensors_(std::move(tensors)) {}

    static constexpr std::string_view in_memory = "viridian:memory";
    // Returns the tensor in memory that the message names, or null.
    [[nodiscard]] const graph::Tensor* tensor_of(const TensorProto& tensor) const;

    // Returns the `byte_count` bytes of the tensor, shared with the mapped file. Elements that are not
    // aligned to `alignment` bytes are copied, in all at most as many bytes as the files have. Errors:
    // file_not_found, file_unreadable, malformed, unsupported (there is no folder), limit_exceeded (more
    // copies).
    Result<std::shared_ptr<const std::byte>> bytes_of(const TensorProto& tensor, std::int64_t byte_count,
                                                      std::int64_t alignment);

    std::int64_t dense_left = std::int64_t{1} << 28;  // bytes that sparse tensors may still fill out

  private:
    Path folder_;
    std::vector<graph::Tensor> tensors_;
    std::map<std::string, MappedFile> files_;
    std::uint64_t copies_left_ = 0;
};

}  // namespace viridian::onnx
