#pragma once
// Defines errors as values. An error has one of three kinds (docs/architecture.md, "Command line"): the
// user's input is wrong, this machine cannot do what was asked, or Viridian has a bug. It says in one
// sentence what is wrong, and then what the reader can do next.
#include <string>
#include <string_view>

namespace viridian {

enum class ErrorKind {
    user,     // the input is wrong: exit code 1
    machine,  // this machine cannot: exit code 2
    bug,      // our own invariant is broken: exit code 3
};

// ErrorCode lists every kind of failure. A new code also needs a line in `kind_of` and in `name_of`.
enum class ErrorCode {
    invalid_argument,   // an option, name or value outside what is allowed
    file_not_found,     // a path that does not exist
    file_unreadable,    // a file that exists but cannot be read
    malformed,          // bytes that do not follow their format
    unsupported,        // valid input that uses something not built yet
    mismatch,           // two inputs that do not belong together: shapes, fingerprints, schemas
    limit_exceeded,     // something larger than a stated limit
    missing_entry,      // a key that a table, trace or cost file lacks
    cancelled,          // the user stopped it
    file_not_writable,  // creating or writing failed
    disk_full,          // no space left; nothing was lost
    no_permission,      // an action that the operating system refuses
    no_device,          // a device, meter or instruction set that this machine lacks
    out_of_memory,      // an allocation that could not be met
    device_failed,      // a device or library call failed
    not_equal,          // outputs differ more than allowed and no plan is left
    broken_invariant,   // a bug of ours
};

// Return the kind to which a code belongs, and the code's name in JSON ("file_not_found").
[[nodiscard]] ErrorKind kind_of(ErrorCode code);
[[nodiscard]] std::string_view name_of(ErrorCode code);

struct Error {
    ErrorCode code;
    std::string message;    // one sentence that says what is wrong and names the thing
    std::string next_step;  // the command or action that helps now; may be empty

    [[nodiscard]] ErrorKind kind() const { return kind_of(code); }
    [[nodiscard]] std::string text() const;  // "message. next_step."
    // Returns this error with `context` and a colon before its message, as in "while reading `x`: message".
    [[nodiscard]] Error within(std::string_view context) &&;
};

}  // namespace viridian
