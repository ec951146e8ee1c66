#pragma once
// Makes an Executable of a plan on the processor: prepares its kernels, packs its weights and allocates its
// memory.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// Makes the plan of `graph` ready to run. `consumed` is null, or the same graph, whose constants are freed
// as they are packed. Errors: unsupported, device_failed, out_of_memory.
[[nodiscard]] Result<std::unique_ptr<Executable>> prepare_plan(const Context& context,
                                                               const graph::Graph& graph,
                                                               const plan::Plan& plan,
                                                               graph::Graph* consumed = nullptr);

}  // namespace viridian::execute::cpu
