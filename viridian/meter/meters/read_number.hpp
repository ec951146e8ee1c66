#pragma once
// Reads small files that the kernel renews (sysfs, procfs), as meters do thousands of times. The file stays
// open, and each read begins at its start.
#include <memory>
#include <span>

#include "viridian/base/file.hpp"

namespace viridian::meter {

// KernelFile is such a file with any content. If a read fails, it opens the path again, so that it keeps
// working after a driver was unloaded and loaded. Copies share the open file.
class KernelFile {
  public:
    // Opens `path`. Errors: file_not_found, no_permission, file_unreadable.
    [[nodiscard]] static Result<KernelFile> open(const Path& path);
    // Reads from the start of the file as much as `into` holds. Returns the number of bytes, which is never
    // 0. Errors: those of `open`; file_unreadable if the file is empty.
    [[nodiscard]] Result<std::size_t> read(std::span<char> into) const;
    [[nodiscard]] const Path& path() const { return *path_; }

  private:
    KernelFile(const Path& path, int file);
    std::shared_ptr<const Path> path_;
    std::shared_ptr<int> file_;
};

// NumberFile is such a file that holds one integer.
class NumberFile {
  public:
    // Opens `path`. Errors: file_not_found, no_permission, file_unreadable.
    [[nodiscard]] static Result<NumberFile> open(const Path& path);
    // Reads the integer. Errors: those of `open`; malformed if the file holds something else.
    [[nodiscard]] Result<std::int64_t> read() const;
    [[nodiscard]] const Path& path() const { return file_.path(); }

  private:
    explicit NumberFile(KernelFile file) : file_(std::move(file)) {}
    KernelFile file_;
};

// Returns the first line with any text of the file `path`, without spaces around it, or "" if there is none.
[[nodiscard]] std::string first_line(const Path& path);

}  // namespace viridian::meter
