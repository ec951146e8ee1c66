#pragma once
// Reads and writes safetensors files, the format in which PyTorch users exchange weights. A file is the
// length of its header in 8 bytes, the header in JSON, and the tensors' bytes one after another, row-major
// and little-endian (https://huggingface.co/docs/safetensors, "Format"). Nothing in a file can run code.
#include <memory>
#include <span>
#include <string_view>

#include "viridian/base/file.hpp"
#include "viridian/train/checkpoint/safetensors_header.hpp"
#include "viridian/train/named_tensor.hpp"

namespace viridian::train {

// A SafetensorsFile is an open file whose header was checked. Tensors are read when they are asked for, so
// that a few of many cost only their own bytes. Copies share the open file.
class SafetensorsFile {
  public:
    // Opens `path`. Errors: file_not_found, file_unreadable, and those of the header.
    [[nodiscard]] static Result<SafetensorsFile> open(const Path& path);

    [[nodiscard]] const Path& path() const { return path_; }
    [[nodiscard]] const Metadata& metadata() const { return header_.metadata; }
    [[nodiscard]] std::span<const StoredTensor> tensors() const { return header_.tensors; }  // as they lie
    [[nodiscard]] const StoredTensor* find(std::string_view name) const;  // null if there is none

    // Reads one tensor. Errors: missing_entry (no tensor of that name), unsupported (an element type that
    // Viridian lacks, such as F8_E4M3), limit_exceeded (more than 2^40 elements), malformed (a BOOL that is
    // neither 0 nor 1), file_unreadable (the file became shorter after it was opened).
    [[nodiscard]] Result<graph::Tensor> read(std::string_view name) const;
    [[nodiscard]] Result<graph::Tensor> read(const StoredTensor& tensor) const;

  private:
    SafetensorsFile(Path path, std::shared_ptr<const int> file, SafetensorsHeader header,
                    std::uint64_t data_begin)
        : path_(std::move(path)),
          file_(std::move(file)),
          header_(std::move(header)),
          data_begin_(data_begin) {}

    Path path_;
    std::shared_ptr<const int> file_;  // a descriptor that the last copy closes
    SafetensorsHeader header_;
    std::uint64_t data_begin_ = 0;
};

// Writes `tensors` and `metadata` to `path`, as write_parts does: another program sees the old file or the
// complete new one. Tensors are ordered by the size of their elements, the largest first, and then by name,
// so that each begins at a multiple of its element's size and equal contents give equal bytes. A file of some
// tensors is written by passing some tensors. Errors: invalid_argument (a name twice, a name that is no
// UTF-8, the reserved name __metadata__, a tensor without an element type), file_not_writable, disk_full.
[[nodiscard]] Result<void> write_safetensors(const Path& path, std::span<const NamedTensor> tensors,
                                             const Metadata& metadata);

}  // namespace viridian::train
