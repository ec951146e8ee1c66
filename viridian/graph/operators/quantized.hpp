#pragma once
// Rounding to a quantized type, shared by QuantizeLinear and the quantized products.
#include "viridian/graph/element_type.hpp"

namespace viridian::graph {

// round(level) + zero, half to even, cut to the range of an integer type of at most 32 bits.
[[nodiscard]] std::int64_t saturated(ElementType type, double level, std::int64_t zero);

}  // namespace viridian::graph
