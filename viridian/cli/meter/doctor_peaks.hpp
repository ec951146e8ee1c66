#pragma once
// What `viridian doctor --peaks` says: arithmetic and bandwidth at most.
#include "viridian/base/json.hpp"
#include "viridian/execute/peaks.hpp"

namespace viridian::cli {

[[nodiscard]] Json to_json(const execute::Peak& peak);
// Returns a table of `peaks`, which is not empty.
[[nodiscard]] std::string peaks_text(const std::vector<execute::Peak>& peaks);

}  // namespace viridian::cli
