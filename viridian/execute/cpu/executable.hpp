#pragma once
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// `consumed`: null, or the same graph, whose constants go as they are packed.
[[nodiscard]] Result<std::unique_ptr<Executable>> prepare_plan(const Context& context,
                                                               const graph::Graph& graph,
                                                               const plan::Plan& plan,
                                                               graph::Graph* consumed = nullptr);

// A kernel for a choice of one of the families. Errors: unsupported.
[[nodiscard]] Result<Kernel> prepare_kernel(const Task& task, const plan::Choice& choice);

}  // namespace viridian::execute::cpu
