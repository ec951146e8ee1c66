#pragma once
// Errors are values. Three kinds for three readers (docs/architecture.md, "Command line"): the user's input
// is wrong, this machine cannot, or the bug is ours. Every error says what is wrong in one sentence and what
// to do next.
#include <string>
#include <string_view>

namespace viridian {

enum class ErrorKind {
    user,     // the input is wrong: exit code 1
    machine,  // this machine cannot: exit code 2
    bug,      // our own invariant is broken: exit code 3
};

// The closed list. A new code needs a line in `kind_of` too.
enum class ErrorCode {
    invalid_argument,   // an option, name or value outside what is allowed
    file_not_found,     // a path that does not exist
    file_unreadable,    // it exists, but reading failed
    malformed,          // bytes that do not follow their format
    unsupported,        // valid input that uses something not built yet
    mismatch,           // two inputs that do not belong together: shapes, fingerprints, schemas
    limit_exceeded,     // larger than a stated limit
    missing_entry,      // a key that a table, trace or cost file lacks
    cancelled,          // the user stopped it
    file_not_writable,  // creating or writing failed
    disk_full,          // no space left; nothing was lost
    no_permission,      // the system refuses
    no_device,          // a device, meter or instruction set that this machine lacks
    out_of_memory,      // an allocation that could not be met
    device_failed,      // a device or library call failed
    not_equal,          // outputs differ more than allowed and no plan is left
    broken_invariant,   // our bug
};

[[nodiscard]] ErrorKind kind_of(ErrorCode code);
[[nodiscard]] std::string_view name_of(ErrorCode code);

struct Error {
    ErrorCode code;
    std::string message;    // one sentence: what is wrong, with the name of the thing
    std::string next_step;  // what the reader can do now

    [[nodiscard]] ErrorKind kind() const { return kind_of(code); }
    [[nodiscard]] std::string text() const;  // "message. next_step."
    // The same error seen from further out: "while reading `x`: message".
    [[nodiscard]] Error within(std::string_view context) &&;
};

}  // namespace viridian
