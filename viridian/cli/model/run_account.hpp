#pragma once
// Runs a plan while its steps are recorded and its power is metered, and accounts the joules to its
// operators, for `viridian run --account FILE` and `viridian run --trace FILE`.
#include "viridian/cli/command.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/optimize/planned.hpp"

namespace viridian::cli {

struct MeteredRuns {
    std::unique_ptr<trace::Source> events;  // one for each step of each run
    meter::PowerLog power;
};
// Runs `planned` on `inputs` `runs` times and samples the meter called `meter`, or every meter of this
// machine if that is empty. Errors: those of the meters and of running.
[[nodiscard]] Result<MeteredRuns> metered_runs(const optimize::PlannedModel& planned,
                                               const std::vector<graph::Tensor>& inputs, int runs,
                                               const std::string& meter);

// Runs `planned` on `inputs` for about two seconds or more and at least ten times; `seconds` is the time of
// one run. Meanwhile it samples the meter called `meter`, or every meter of this machine if that is empty.
// Writes the account to `file` as `keep_answer` does (cli/account/account.hpp). Errors: those of the meters,
// of running, of accounting and of writing.
[[nodiscard]] Result<Answer> account_runs(const optimize::PlannedModel& planned,
                                          const std::vector<graph::Tensor>& inputs, double seconds,
                                          const std::string& meter, const std::string& file);

}  // namespace viridian::cli
