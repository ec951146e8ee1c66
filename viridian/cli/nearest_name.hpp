#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace viridian::cli {

// The name a mistyped word was most likely meant to be: the one at the smallest edit distance, if that is at
// most a third of the word's length (at least 1). The first among equals.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> names);

}  // namespace viridian::cli
