#pragma once
// Changes models as messages, so that a mutant is still a model that the reader understands.
#include <string>
#include <string_view>

#include "viridian/base/random.hpp"

namespace viridian::fuzz {

// Returns the bytes of `model` after one to four changes: to attributes, tensors, types, sizes, connections,
// operators and operator sets. The result is empty if `model` cannot be read.
[[nodiscard]] std::string mutate_model(std::string_view model, Random& random);

// Returns a model that holds the nodes of both, with an input of the second taken from a value of the first.
// The result is empty if one of them cannot be read.
[[nodiscard]] std::string graft_model(std::string_view first, std::string_view second, Random& random);

}  // namespace viridian::fuzz
