#pragma once
// One integer from a small file that the kernel renews (sysfs). The file stays open; each read starts anew.
#include <memory>

#include "viridian/base/file.hpp"

namespace viridian::meter {

class NumberFile {
  public:
    // Errors: file_not_found, no_permission, file_unreadable.
    [[nodiscard]] static Result<NumberFile> open(const Path& path);
    [[nodiscard]] Result<std::int64_t> read() const;
    [[nodiscard]] const Path& path() const { return path_; }

  private:
    NumberFile(Path path, int file);
    Path path_;
    std::shared_ptr<int> file_;
};

// The first line of a small file, without spaces around it; empty if there is none.
[[nodiscard]] std::string first_line(const Path& path);

}  // namespace viridian::meter
