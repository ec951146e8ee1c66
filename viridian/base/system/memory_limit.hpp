#pragma once
// Says how much memory this process may still take, before it takes it.
#include <optional>

#include "viridian/base/file.hpp"
#include "viridian/base/units.hpp"

namespace viridian {

// Returns the bytes that are free for this process: what the kernel calls available (MemAvailable of
// /proc/meminfo), or less if a control group leaves less (its limit minus what it uses, without the part of
// its page cache that the kernel gives back first; versions 1 and 2, and the groups above it). Nothing if the
// machine does not say. procfs and sysfs are looked for below `root`.
[[nodiscard]] std::optional<Bytes> available_memory(const Path& root = "/");

// Returns three quarters of the available memory, the default of --memory, or the largest number if the
// machine does not say what is available.
[[nodiscard]] Bytes usual_memory_limit();

// Checks that `bytes` are available, if they are many enough (256 MiB) for the look to cost nothing beside
// filling them: Linux grants more memory than it has, and ends programs that then use it. Throws
// std::bad_alloc.
void require_memory(Bytes bytes);

}  // namespace viridian
