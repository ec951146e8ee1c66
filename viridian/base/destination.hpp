#pragma once
// Decides how an output file is written. A regular file is written under another name in the same folder and
// renamed when it is complete, so that nothing is lost if writing fails. Links are followed. A device, a pipe
// or /dev/stdout is written directly and never replaced.
#include "viridian/base/file.hpp"

namespace viridian {

// A Destination is one output file while it is written.
struct Destination {
    // Follows the links of `name`. Opens and changes nothing.
    explicit Destination(const Path& name);

    // Makes `beside` anew, or opens the device; returns a descriptor, or -1 with errno set.
    [[nodiscard]] int open() const;
    // Renames `beside` to `path` and syncs the folder. Removes `beside` if that fails. Errors: those of
    // write_error(). If the folder alone could not be synced, the error says that `path` was written.
    [[nodiscard]] Result<void> place() const;
    void abandon() const;  // removes `beside`, unless it is `path`

    Path path;    // the file to which `name` leads
    Path beside;  // the file that is opened; equal to `path` for devices and pipes
};

// Checks that a file of this name could be written now, and leaves nothing behind. Errors: those of writing
// it.
[[nodiscard]] Result<void> check_writable(const Path& name);

// Returns the error for the system error `number` (errno) while writing `path`: disk_full or
// file_not_writable.
[[nodiscard]] Error write_error(const Path& path, int number);

}  // namespace viridian
