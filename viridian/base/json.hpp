#pragma once
// Parses JSON documents with nlohmann-json. Keys keep the order in which they were written.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"

namespace viridian {

// Parses a whole document. `name` stands for it in errors. Errors: malformed, with line and column, also for
// nesting deeper than 512.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view name);

// Returns `json` as text, with `indent` blanks a level, or in one line for -1. Bytes of names that are no
// UTF-8 are replaced, so that it always succeeds.
[[nodiscard]] std::string json_dump(const Json& json, int indent);

}  // namespace viridian
