#pragma once
// Times a plan's steps on the processor, one by one.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/step_timer.hpp"

namespace viridian::execute::cpu {

// Prepares every step of the plan. Errors: those of preparing, out_of_memory.
[[nodiscard]] Result<std::unique_ptr<StepTimer>> make_step_timer(const Context& context,
                                                                 const graph::Graph& graph,
                                                                 const plan::Plan& plan);

}  // namespace viridian::execute::cpu
