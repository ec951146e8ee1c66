#pragma once
// Opens and extends files to which a run appends while others read them.
#include <memory>

#include "viridian/base/file.hpp"

namespace viridian::train {

// Opens `path` for appending and makes it if there is none. The descriptor is closed with the last copy.
// Errors: file_not_writable.
[[nodiscard]] Result<std::shared_ptr<const int>> open_to_append(const Path& path);
// Appends `bytes`. Errors: file_not_writable, disk_full.
[[nodiscard]] Result<void> append(int file, const Path& path, std::string_view bytes);

}  // namespace viridian::train
