#pragma once
// Starts the program that `record` runs, waits for it, and ends it when its time is up.
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian::cli {

// Starts `command` with `environment` ("NAME=value" each). `output_to_error` sends its standard output to
// ours for errors, because an answer in JSON needs the other. Errors: invalid_argument if it cannot be
// started.
[[nodiscard]] Result<pid_t> start_program(const std::vector<std::string>& command,
                                          const std::vector<std::string>& environment, bool output_to_error);

struct TimeLimit {
    Seconds after;
    Seconds grace;                     // between SIGTERM and SIGKILL
    std::function<void()> before_end;  // called once, before the program is told
};

// Waits until the program has ended, but does not reap it, so that its times can still be read. After `limit`
// it gets SIGTERM, so do those it started that outlive it; who is left after the grace is killed. Ctrl-C is
// the program's meanwhile. Returns whether it was ended by us.
[[nodiscard]] bool wait_for_end(pid_t program, const std::optional<TimeLimit>& limit);

// Reaps the program. Returns its exit code, or 128 and the signal's number.
[[nodiscard]] int reap(pid_t program);

}  // namespace viridian::cli
