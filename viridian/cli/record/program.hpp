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

// Looks for the program of `command` as `start_program` will, so that a name that is wrong is told before
// anything is written. Errors: invalid_argument if there is none that may be run.
[[nodiscard]] Result<void> find_program(const std::vector<std::string>& command);

// Starts `command` with `environment` ("NAME=value" each) and returns its process id. If `output_to_error`,
// its standard output goes to our standard error, because our standard output is for an answer in JSON.
// Errors: invalid_argument if it cannot be started.
[[nodiscard]] Result<pid_t> start_program(const std::vector<std::string>& command,
                                          const std::vector<std::string>& environment, bool output_to_error);

// A process that ends well when it hears SIGTERM.
struct Listener {
    pid_t process = 0;
    pid_t thread = 0;     // the one that hears
    std::string born;     // when the process was started, in ticks, as /proc has it
    bool ending = false;  // it has heard, or ends of itself
};

struct TimeLimit {
    Seconds after;                     // the program may run this long
    Seconds grace;                     // between SIGTERM and SIGKILL
    std::function<void()> before_end;  // is called once, before SIGTERM; may be empty
    // Names processes that get SIGTERM together with the program, if the program started them; may be empty.
    std::function<std::vector<pid_t>()> with_it;
    // Names processes that end well; may be empty. One that has got SIGTERM and whose thread hears nothing
    // and does nothing for a minute, while none of the others is ending, waits for one that has ended. It is
    // killed then, and not only when the grace is over.
    std::function<std::vector<Listener>()> listeners;
};

// Waits until the program has ended, but does not reap it, so that its times can still be read. After `limit`
// the program gets SIGTERM, and so do the processes that it started and that outlive it. Those that are left
// after the grace are killed. We ignore Ctrl-C meanwhile, so that only the program gets it. Returns whether
// the program was ended by us.
[[nodiscard]] bool wait_for_end(pid_t program, const std::optional<TimeLimit>& limit);

// Reaps the program. Returns its exit code, or 128 and the signal's number.
[[nodiscard]] int reap(pid_t program);

}  // namespace viridian::cli
