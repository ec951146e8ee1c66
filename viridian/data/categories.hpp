#pragma once
// Stores the texts that a column's integers stand for (the vocabulary of a text, the names of classes) as
// JSON, so that a trained model can be used, and other data opened, with the numbers of its training.
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::data {

// Returns {"schema": "viridian.categories/1", "categories": [...]} as text.
[[nodiscard]] std::string categories_text(const std::vector<std::string>& categories);

// Reads it back. `name` stands for it in errors. Errors: malformed (also a category that stands twice).
[[nodiscard]] Result<std::vector<std::string>> parse_categories(std::string_view text, std::string_view name);

}  // namespace viridian::data
