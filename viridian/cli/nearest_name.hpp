#pragma once
// Finds the name that a user meant.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace viridian::cli {

// The one of `names` that `word` was most likely meant to be: the first at the smallest edit distance
// (Levenshtein), if that distance is at most a third of the word's length, or 1. Nothing otherwise.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> names);

}  // namespace viridian::cli
