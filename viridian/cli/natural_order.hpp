#pragma once
// Orders names as people count: `input_2` comes before `input_10`.
#include <string_view>

namespace viridian::cli {

// Returns whether `a` comes before `b`. Runs of digits compare by their value, everything else byte by byte.
// Names that differ in leading zeros alone come in the order of their bytes.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace viridian::cli
