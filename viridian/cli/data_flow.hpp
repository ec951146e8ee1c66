#pragma once
// Who reads whose data: of a plan's steps, for the trace of its runs, and of a model's nodes, for diagrams of
// traces that say nothing of it.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"
#include "viridian/plan/plan.hpp"

namespace viridian::cli {

// (from, to) by index of step, ascending, each pair once.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> step_flows(const graph::Graph& graph,
                                                                          const plan::Plan& plan);
// Between nodes of an .onnx file, by name. Errors: those of reading it.
[[nodiscard]] Result<std::vector<account::Flow>> model_flows(const Path& model);

}  // namespace viridian::cli
