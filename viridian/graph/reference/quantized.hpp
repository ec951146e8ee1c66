#pragma once
// saturated() rounds to a quantized type. QuantizeLinear and the quantized products share it.
#include "viridian/graph/element_type.hpp"

namespace viridian::graph {

// Returns round(level) + zero, clamped to the range of `type`, an integer type of at most 32 bits. Halves are
// rounded to even.
[[nodiscard]] std::int64_t saturated(ElementType type, double level, std::int64_t zero);

}  // namespace viridian::graph
