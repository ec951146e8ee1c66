#pragma once
// Reads small files that the kernel renews (sysfs, procfs). The file stays open and each read starts anew;
// once a read fails the path is opened again, so that a driver that was loaded anew is found.
#include <memory>
#include <span>

#include "viridian/base/file.hpp"

namespace viridian::meter {

class KernelFile {
  public:
    // Errors: file_not_found, no_permission, file_unreadable.
    [[nodiscard]] static Result<KernelFile> open(const Path& path);
    // As much as `into` holds; the number of bytes.
    [[nodiscard]] Result<std::size_t> read(std::span<char> into) const;
    [[nodiscard]] const Path& path() const { return *path_; }

  private:
    KernelFile(const Path& path, int file);
    std::shared_ptr<const Path> path_;
    std::shared_ptr<int> file_;
};

// A file that holds one integer.
class NumberFile {
  public:
    // Errors: file_not_found, no_permission, file_unreadable.
    [[nodiscard]] static Result<NumberFile> open(const Path& path);
    // Errors: those, and malformed.
    [[nodiscard]] Result<std::int64_t> read() const;
    [[nodiscard]] const Path& path() const { return file_.path(); }

  private:
    explicit NumberFile(KernelFile file) : file_(std::move(file)) {}
    KernelFile file_;
};

// The first line of a small file, without spaces around it; empty if there is none.
[[nodiscard]] std::string first_line(const Path& path);

}  // namespace viridian::meter
