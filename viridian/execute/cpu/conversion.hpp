#pragma once
// Copies of a tensor from one format into another.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// One input, one output. Errors: unsupported.
[[nodiscard]] Result<Kernel> prepare_conversion(const Context& context, const graph::Dims& dims,
                                                const plan::Format& from, const plan::Format& to);

}  // namespace viridian::execute::cpu
