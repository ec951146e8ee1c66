#pragma once
// Writes a file from several parts of memory, so that a large one need not be put together first.
#include <span>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::train {

// Writes `parts`, one after another, to another file of the same folder, syncs it, renames it to `path`, and
// syncs the folder: when this returns without an error, the file survives a power failure; if the process or
// the machine stops earlier, `path` is what it was. Errors: file_not_writable, disk_full; the old file is
// then unchanged, and nothing is left beside it.
[[nodiscard]] Result<void> write_parts(const Path& path, std::span<const std::string_view> parts);

}  // namespace viridian::train
