#pragma once
// Results become one self-contained HTML page: no network, readable on a phone. The page holds the result
// itself, so nothing is lost in it.
#include <string>

#include "viridian/base/json.hpp"

namespace viridian::report {

// A page around `body` and `script` (asset names), with `result` as the constant `result` of the script.
[[nodiscard]] std::string assemble_page(std::string_view title, std::string_view body_asset,
                                        std::string_view script_asset, const Json& result);

// The page of any result this project writes, by its `schema`. Errors: unsupported for an unknown schema.
[[nodiscard]] Result<std::string> page(const Json& result);

}  // namespace viridian::report
