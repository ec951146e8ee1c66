#pragma once
// Where output goes: a file is written beside its name and takes its place once it is whole, so that nothing
// is lost on failure; a link is followed; a device, a pipe or /dev/stdout is written as it is and never
// replaced.
#include "viridian/base/file.hpp"

namespace viridian {

struct Destination {
    explicit Destination(const Path& name);

    [[nodiscard]] int open() const;    // a descriptor, or -1 with errno
    [[nodiscard]] bool place() const;  // what was written takes its name; false with errno
    void abandon() const;              // what was written so far goes

    Path path;    // what `name` leads to
    Path beside;  // what is opened; `path` itself where nothing may be replaced
};

// Whether a file could come to this name now; leaves nothing behind. Errors: those of writing it.
[[nodiscard]] Result<void> check_writable(const Path& name);

// `disk_full` or `file_not_writable`.
[[nodiscard]] Error write_error(const Path& path, int number);

}  // namespace viridian
