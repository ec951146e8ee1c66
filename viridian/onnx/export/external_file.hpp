#pragma once
// An ExternalFile writes constants into a file beside the model. Large ones begin at a page, so that
// readers can map them.
#include "viridian/onnx/export/export.hpp"

namespace viridian::onnx {

class ExternalFile final : public ConstantSink {
  public:
    // Opens the file `path`. Constants of fewer than `from` bytes stay in the model. Errors:
    // file_not_writable.
    static Result<ExternalFile> create(Path path, std::int64_t from);
    ExternalFile(ExternalFile&&) = default;
    ~ExternalFile() override;  // an unfinished file is removed

    Result<bool> take(const graph::Tensor& tensor, TensorProto& proto) override;
    // Gives the complete file its name. Errors: disk_full, file_not_writable.
    Result<void> finish();

  private:
    struct Stream;
    ExternalFile(Path path, std::int64_t from, std::shared_ptr<Stream> stream)
        : path_(std::move(path)), from_(from), stream_(std::move(stream)) {}

    Path path_;
    std::int64_t from_;
    std::shared_ptr<Stream> stream_;
    std::int64_t offset_ = 0;
    std::map<const std::byte*, std::int64_t> written_;  // bytes that are shared are written once
};

}  // namespace viridian::onnx
