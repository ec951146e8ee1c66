#pragma once
// Decompresses a gzipped text, because logs of minutes are kept packed.
#include <string>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian::meter {

[[nodiscard]] inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// Returns the plain text of `bytes`, of all members one after the other; other bytes behind the last one are
// left out, as gzip does. `name` stands for the file in errors. Errors: malformed (damaged), limit_exceeded
// (more than `limit` bytes when plain).
[[nodiscard]] Result<std::string> gunzip(std::string_view bytes, std::string_view name,
                                         std::size_t limit = std::size_t{1} << 32);

}  // namespace viridian::meter
