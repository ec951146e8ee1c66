#pragma once
// saturated() rounds a number to a quantized type and clamps it to that type's range. QuantizeLinear and the
// quantized products share it.
#include "viridian/graph/element_type.hpp"

namespace viridian::graph {

// Returns round(level) + zero, clamped to the range of `type`, an integer type of at most 32 bits. Halves are
// rounded to even.
[[nodiscard]] std::int64_t saturated(ElementType type, double level, std::int64_t zero);

}  // namespace viridian::graph
