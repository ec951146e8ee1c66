#pragma once
// The list of rules, in the order in which they are tried.
#include <span>

#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {

[[nodiscard]] std::span<const Rule> rules();
[[nodiscard]] const Rule* find_rule(std::string_view name);

}  // namespace viridian::rewrite
