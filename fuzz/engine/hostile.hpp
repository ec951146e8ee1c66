#pragma once
// Draws values that no exporter writes, and attributes that hold them.
#include "viridian/base/random.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::fuzz {

// These draw a value: mostly small ones, now and then an extreme.
[[nodiscard]] std::int64_t some_integer(Random& random);
[[nodiscard]] std::vector<std::int64_t> some_integers(Random& random);
[[nodiscard]] float some_number(Random& random);
// Returns `value` plus `step`, modulo 2^64.
[[nodiscard]] constexpr std::int64_t moved(std::int64_t value, std::int64_t step) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(step));
}
// Draws a word that some attribute may be.
[[nodiscard]] std::string some_word(Random& random);
// Draws an attribute that some operator has, usually of its own type.
[[nodiscard]] std::pair<std::string, graph::Attribute> some_attribute(Random& random);

}  // namespace viridian::fuzz
