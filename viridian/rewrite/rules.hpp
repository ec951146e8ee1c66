#pragma once
// Gives all rules in the order in which they are tried (rules/list.inc).
#include <span>

#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {

[[nodiscard]] std::span<const Rule> rules();
// Returns the rule of this name, or null.
[[nodiscard]] const Rule* find_rule(std::string_view name);

}  // namespace viridian::rewrite
