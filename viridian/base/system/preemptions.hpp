#pragma once
// Counts how often this process lost a processor to something else, so that a timing can leave out disturbed
// runs.
#include <cstdint>

namespace viridian {

// Returns how often the system has taken a processor away from a thread of this process that had work to do,
// since the process began: its involuntary context switches, getrusage(2). Time that a hypervisor takes is
// not seen.
[[nodiscard]] std::int64_t preemptions();

}  // namespace viridian
