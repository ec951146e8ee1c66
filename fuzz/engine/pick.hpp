#pragma once
// Draws from repeated fields.
#include "viridian/base/random.hpp"

namespace viridian::fuzz {

// Draws a number in [0, bound); 0 if the bound is none.
inline std::uint64_t below(Random& random, int bound) {
    return bound <= 0 ? 0 : random.below(static_cast<std::uint64_t>(bound));
}

// Draws one of `field`, which protobuf declares; null if it is empty.
template <class Field>
auto pick(Field* field, Random& random) -> decltype(field->Mutable(0)) {
    return field->empty() ? nullptr : field->Mutable(static_cast<int>(below(random, field->size())));
}

}  // namespace viridian::fuzz
