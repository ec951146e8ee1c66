#pragma once
// Files, whole: read with a limit, write so that readers see the old text or the new, never half of it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian {

using Path = std::filesystem::path;

// Errors: file_not_found, file_unreadable, limit_exceeded (larger than `limit` bytes).
[[nodiscard]] Result<std::string> read_file(const Path& path, std::uint64_t limit = std::uint64_t{1} << 34);

// Writes beside `path`, syncs, renames. Errors: file_not_writable, disk_full; on error the old file is
// untouched.
[[nodiscard]] Result<void> write_file(const Path& path, std::string_view bytes);

}  // namespace viridian
