#pragma once
// Implements StepTimer (execute/step_timer.hpp) for the processor: times a plan's steps one by one.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/step_timer.hpp"

namespace viridian::execute::cpu {

// Returns a timer of all steps of the plan, which are prepared now. Errors: those of preparing,
// out_of_memory.
[[nodiscard]] Result<std::unique_ptr<StepTimer>> make_step_timer(const Context& context,
                                                                 const graph::Graph& graph,
                                                                 const plan::Plan& plan);

}  // namespace viridian::execute::cpu
