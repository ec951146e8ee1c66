#pragma once
// JSON documents (nlohmann-json). Key order is kept as written, so results read like their tables.
#include <nlohmann/json.hpp>
#include <string_view>

#include "viridian/base/result.hpp"

namespace viridian {

using Json = nlohmann::ordered_json;

// Parses a whole document. Errors: malformed, with `name`, line and column. Nesting deeper than 512 is
// refused.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view name);

}  // namespace viridian
