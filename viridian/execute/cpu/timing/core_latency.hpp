#pragma once
// Measures how long data takes from one thread of the device to the next. Timings that were taken at
// different latencies are not compared (docs/profile.md).
#include "viridian/base/units.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"

namespace viridian::execute::cpu {

// Returns how long a cache line that one of the pool's threads wrote takes to reach the next one: the best of
// a few batches, which take about a tenth of a millisecond together. Each thread needs a processor of its
// own, because the threads spin; after 5 ms none of them spins any more. Returns the best of the batches that
// were complete by then, and zero if none was, for one thread, or if the threads cannot be started.
[[nodiscard]] Seconds core_to_core_latency(Pool& pool);

}  // namespace viridian::execute::cpu
