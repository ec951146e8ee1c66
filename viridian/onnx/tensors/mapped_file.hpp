#pragma once
// A MappedFile is a file mapped into memory, read-only. The mapping lives as long as anything shares it.
#include <cstddef>
#include <memory>

#include "viridian/base/file.hpp"

namespace viridian::onnx {

class MappedFile {
  public:
    // Maps the regular file `path`. Errors: file_not_found, file_unreadable.
    static Result<MappedFile> open(const Path& path);

    [[nodiscard]] std::string_view bytes() const {
        return {reinterpret_cast<const char*>(data_.get()), size_};
    }
    // Returns the bytes from `offset` on, which share the mapping. The caller has checked the bounds.
    [[nodiscard]] std::shared_ptr<const std::byte> at(std::size_t offset) const {
        return {data_, data_.get() + offset};
    }
    // Removes the whole pages among these `size` bytes from memory until they are read again.
    void drop(std::size_t offset, std::size_t size) const;

  private:
    std::shared_ptr<const std::byte> data_;
    std::size_t size_ = 0;
};

}  // namespace viridian::onnx
