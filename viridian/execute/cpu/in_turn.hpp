#pragma once
// A plan's steps on the processor, timed one by one in rotation.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/in_turn.hpp"

namespace viridian::execute::cpu {

[[nodiscard]] Result<std::unique_ptr<InTurn>> make_in_turn(const Context& context, const graph::Graph& graph,
                                                           const plan::Plan& plan);

}  // namespace viridian::execute::cpu
