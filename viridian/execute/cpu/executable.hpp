#pragma once
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// `consumed`: null, or the same graph, whose constants go as they are packed.
[[nodiscard]] Result<std::unique_ptr<Executable>> prepare_plan(const Context& context,
                                                               const graph::Graph& graph,
                                                               const plan::Plan& plan,
                                                               graph::Graph* consumed = nullptr);

}  // namespace viridian::execute::cpu
