#pragma once
// Finds the known name that is nearest to a mistyped one, for error messages.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace viridian::cli {

// Returns the name of `names` for which `word` was most likely meant: the first at the smallest edit distance
// (Levenshtein), if that distance is at most a third of the word's length, or 1. Returns nothing otherwise.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> names);

}  // namespace viridian::cli
