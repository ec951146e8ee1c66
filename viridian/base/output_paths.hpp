#pragma once
// Keeps a command from overwriting what it reads, whatever names and links lead to the same file.
#include <vector>

#include "viridian/base/file.hpp"

namespace viridian {

// Returns the file to which `path` leads after all links are followed, whether or not it exists.
[[nodiscard]] Path resolved(const Path& path);
// Returns true if both names lead to the same file.
[[nodiscard]] bool same_file(const Path& a, const Path& b);

// Returns true if `path` leads into the folder `folder`, at any depth.
[[nodiscard]] bool lies_in(const Path& path, const Path& folder);

// Checks that no two of `writes` are one file. Empty names are ignored. Errors: invalid_argument.
[[nodiscard]] Result<void> check_all_different(const std::vector<Path>& writes);

// Checks that no file of `writes` is a file of `reads`. Empty names are ignored. Errors: invalid_argument.
[[nodiscard]] Result<void> check_replaces_nothing(const std::vector<Path>& writes,
                                                  const std::vector<Path>& reads);

}  // namespace viridian
