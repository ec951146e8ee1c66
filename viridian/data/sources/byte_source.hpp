#pragma once
// A ByteSource answers reads at any position of a file, without holding the file in memory. A file that gets
// shorter while it is used is an error, not a crash as with a mapped file. Copies share the open file.
#include <cstddef>
#include <memory>
#include <span>

#include "viridian/base/file.hpp"

namespace viridian::data {

class ByteSource {
  public:
    // Opens the regular file `path`. Errors: file_not_found, file_unreadable.
    [[nodiscard]] static Result<ByteSource> open(const Path& path);
    // Takes over the open descriptor of a file of `size` bytes.
    [[nodiscard]] static ByteSource of_descriptor(int descriptor, std::uint64_t size, std::string name);
    // Makes a source of bytes in memory.
    [[nodiscard]] static ByteSource of(std::string bytes, std::string name);

    [[nodiscard]] const std::string& name() const { return name_; }  // stands for it in errors
    [[nodiscard]] std::uint64_t size() const { return size_; }

    // Fills `out` with the bytes from `offset` on. Errors: malformed (it ends before), file_unreadable.
    [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;
    // Returns up to `size` bytes from `offset` on, fewer only at the end. Errors as above.
    [[nodiscard]] Result<std::string> text(std::uint64_t offset, std::size_t size) const;
    // Returns `size` bytes from `offset` on as a source. The caller has checked the bounds.
    [[nodiscard]] ByteSource part(std::uint64_t offset, std::uint64_t size, std::string name) const;
    [[nodiscard]] ByteSource renamed(std::string name) const { return part(0, size_, std::move(name)); }

  private:
    struct Storage;
    std::shared_ptr<const Storage> storage_;
    std::string name_;
    std::uint64_t start_ = 0, size_ = 0;
};

}  // namespace viridian::data
