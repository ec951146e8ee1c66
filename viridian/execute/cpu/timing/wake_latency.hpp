#pragma once
// Measures what it costs to call a worker that sleeps. A plan whose regions run on different numbers of
// threads pays it where the number grows.
#include "viridian/base/units.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"

namespace viridian::execute::cpu {

// Returns by how much a job with one barrier takes longer if the workers of the pool sleep than if they wait
// for it: the difference of the medians of 15 jobs each, about 2 ms in all on an idle machine. Returns zero
// for one thread, or if the threads cannot be started.
[[nodiscard]] Seconds wake_latency(Pool& pool);

}  // namespace viridian::execute::cpu
