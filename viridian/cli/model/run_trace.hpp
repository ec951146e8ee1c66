#pragma once
// Writes the trace of some runs of a plan, for `viridian run --trace FILE`.
#include "viridian/optimize/planned.hpp"

namespace viridian::cli {

// Runs `planned` on `inputs` `runs` times and writes the steps to `file`, in the format that its name asks
// for. JSON, which Perfetto shows, tells for each step its kernel, the formats that it writes and its joules,
// and draws the power of each device; `meter` is as in metered_runs (run_account.hpp). If the joules cannot
// be accounted, the trace has none. Errors: those of the meters, of running and of writing.
[[nodiscard]] Result<void> write_run_trace(const optimize::PlannedModel& planned,
                                           const std::vector<graph::Tensor>& inputs, int runs,
                                           const std::string& meter, const std::string& file);

}  // namespace viridian::cli
