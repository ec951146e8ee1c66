#pragma once
// Runs a plan while its steps are recorded and its power is metered, and accounts the joules to its
// operators, for `viridian run --account FILE`.
#include "viridian/cli/command.hpp"
#include "viridian/optimize/planned.hpp"

namespace viridian::cli {

// Runs the plan for two seconds or more (`seconds` is one run's), every meter of this machine sampled (or the
// one called `meter`), and writes the account to `file` with a page beside it.
[[nodiscard]] Result<Answer> account_runs(const optimize::PlannedModel& planned,
                                          const std::vector<graph::Tensor>& inputs, double seconds,
                                          const std::string& meter, const std::string& file);

}  // namespace viridian::cli
