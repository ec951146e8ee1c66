#pragma once
// Keeps a command from overwriting what it reads, whatever names and links lead to the same file.
#include <vector>

#include "viridian/base/file.hpp"

namespace viridian {

// The file that a name leads to after all links are followed, whether or not it exists.
[[nodiscard]] Path resolved(const Path& path);
// True if both names lead to the same file.
[[nodiscard]] bool same_file(const Path& a, const Path& b);

// Errors: invalid_argument if one of `writes` is one of `reads`. Empty names are ignored.
[[nodiscard]] Result<void> check_replaces_nothing(const std::vector<Path>& writes,
                                                  const std::vector<Path>& reads);

}  // namespace viridian
