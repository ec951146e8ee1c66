#pragma once
// Prepares the kernel that copies a tensor from one format into another.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// Returns a kernel with one input in `from` and one output in `to`. Errors: unsupported (a pair of types or
// memories that the processor does not convert).
[[nodiscard]] Result<Kernel> prepare_conversion(const Context& context, const graph::Dims& dims,
                                                const plan::Format& from, const plan::Format& to);

}  // namespace viridian::execute::cpu
