#pragma once
// Chooses the element type in which gradient rules compute means and variances.
#include "viridian/gradient/term.hpp"

namespace viridian::gradient {

// Returns the type in which sums over tensors of this type are computed: f32 at least.
[[nodiscard]] inline ElementType statistics_type(ElementType element) {
    return element == ElementType::f16 || element == ElementType::bf16 ? ElementType::f32 : element;
}

}  // namespace viridian::gradient
