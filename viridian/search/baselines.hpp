#pragma once
// The published ways to choose, kept so that every comparison can be run again.
#include "viridian/search/assign.hpp"

namespace viridian::search {

// What frameworks do: every node alone, by the first kernel the library offers.
[[nodiscard]] Result<Outcome> solve_first(const Instance& instance);

}  // namespace viridian::search
