#pragma once
// Says where a monitor's unix socket lies by default, and whether a folder is safe for one: no other user may
// be able to put a socket of theirs in its place.
#include <sys/types.h>

#include <optional>

#include "viridian/base/file.hpp"

namespace viridian::serve {

// Returns the socket of a monitor that `user` runs: /run/viridian/monitor.sock for root, and
// viridian.sock in `runtime_folder` ($XDG_RUNTIME_DIR) for everyone else; nothing if that is no absolute
// path. python/viridian_monitor.py has the same rule.
[[nodiscard]] std::optional<Path> default_socket(uid_t user, const std::string& runtime_folder);

// Checks that `folder`, every folder above it, and every link on the way belong to `user` or root, that
// nobody else can write into `folder`, and that what lies in the folders above can be replaced by its owner
// only. Errors: file_not_found, no_permission.
[[nodiscard]] Result<void> check_socket_folder(const Path& folder, uid_t user);

}  // namespace viridian::serve
