#pragma once
// Makes one self-contained HTML page of a result. The page loads nothing from the network, can be read on a
// phone, and holds the whole result as JSON.
#include <string>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"

namespace viridian::report {

// Returns the page with the title `title`, whose body and script are the assets (assets.hpp) of these names.
// The script finds the result in its constant `result`.
[[nodiscard]] std::string assemble_page(std::string_view title, std::string_view body_asset,
                                        std::string_view script_asset, const Json& result);

// Returns the page of any result that this program writes. The page is chosen by the result's `schema`.
// Errors: unsupported for an unknown schema.
[[nodiscard]] Result<std::string> page(const Json& result);

}  // namespace viridian::report
