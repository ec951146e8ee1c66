#pragma once
// Counts how often this process lost a processor to something else, so that a timing can leave out disturbed
// runs.
#include <cstdint>

namespace viridian {

// How often so far the system took a processor away from a thread of this process that had work to do:
// involuntary context switches, getrusage(2). What a hypervisor takes is not seen.
[[nodiscard]] std::int64_t preemptions();

}  // namespace viridian
