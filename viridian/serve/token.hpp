#pragma once
// A token is the secret that a client sends to a monitor over TCP, in the header (gRPC: the metadata)
// `authorization: Bearer TOKEN` (RFC 6750). It lies in a file that only its owner can read.
#include <string>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::serve {

// Returns the token in `file`. If there is no such file, it is made with mode 0600 and 256 random bits.
// Errors: no_permission (others may read the file, or it belongs to another user), malformed (not 32 to 512
// characters of RFC 6750), file_unreadable, file_not_writable.
[[nodiscard]] Result<std::string> token_in(const Path& file);

// Whether `header`, the value of `authorization`, carries `token`. The time that this takes does not depend
// on how much of a wrong token is right.
[[nodiscard]] bool authorises(std::string_view header, std::string_view token);

}  // namespace viridian::serve
