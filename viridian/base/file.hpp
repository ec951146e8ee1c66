#pragma once
// Reads and writes whole files. Other programs see the old content of a written file or the new one, never a
// part.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "viridian/base/result.hpp"

namespace viridian {

using Path = std::filesystem::path;

// Returns the content of the file `path`. Errors: file_not_found, file_unreadable, limit_exceeded (larger
// than `limit` bytes).
[[nodiscard]] Result<std::string> read_file(const Path& path, std::uint64_t limit = std::uint64_t{1} << 34);

// Writes `bytes` to another file of the folder, syncs it, renames it to `path` and syncs the folder. Errors:
// file_not_writable, disk_full; the old file is then unchanged.
[[nodiscard]] Result<void> write_file(const Path& path, std::string_view bytes);

// A TemporaryFile is an empty file in $TMPDIR (/tmp without it) that only this user can read, and that goes
// with the object. Nobody can know its name beforehand and put a link there.
class TemporaryFile {
  public:
    // Errors: file_not_writable.
    [[nodiscard]] static Result<TemporaryFile> make();
    TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();
    [[nodiscard]] const Path& path() const { return path_; }

  private:
    explicit TemporaryFile(Path path) : path_(std::move(path)) {}
    Path path_;
};

}  // namespace viridian
