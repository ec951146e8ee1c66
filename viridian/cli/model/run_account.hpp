#pragma once
// Runs a plan while its steps are recorded and its power is metered, and accounts the joules to its
// operators, for `viridian run --account FILE`.
#include "viridian/cli/command.hpp"
#include "viridian/optimize/planned.hpp"

namespace viridian::cli {

// Runs `planned` on `inputs` for about two seconds or more and at least ten times; `seconds` is the time of
// one run. Meanwhile it samples the meter called `meter`, or every meter of this machine if that is empty.
// Writes the account to `file` as `keep_answer` does (cli/account/account.hpp). Errors: those of the meters,
// of running, of accounting and of writing.
[[nodiscard]] Result<Answer> account_runs(const optimize::PlannedModel& planned,
                                          const std::vector<graph::Tensor>& inputs, double seconds,
                                          const std::string& meter, const std::string& file);

}  // namespace viridian::cli
