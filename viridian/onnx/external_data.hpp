#pragma once
// Tensors kept beside the model (ONNX, "External Data"): location, offset, length. Locations outside the
// model's folder are refused, links included.
#include <map>

#include "viridian/onnx/mapped_file.hpp"
#include "viridian/onnx/proto.hpp"

namespace viridian::onnx {

class ExternalData {
  public:
    ExternalData() = default;  // no folder: every external tensor is refused
    explicit ExternalData(Path folder) : folder_(std::move(folder)) {}

    // The tensor's `byte_count` bytes, shared with the mapping. Errors: file_not_found, malformed.
    // Elements that lie across their own alignment are copied, as many bytes in all as the files hold.
    Result<std::shared_ptr<const std::byte>> bytes_of(const TensorProto& tensor, std::int64_t byte_count,
                                                      std::int64_t alignment);

    std::int64_t dense_left = std::int64_t{1} << 28;  // bytes that sparse tensors may still fill out

  private:
    Path folder_;
    std::map<std::string, MappedFile> files_;
    std::uint64_t copies_left_ = 0;
};

}  // namespace viridian::onnx
