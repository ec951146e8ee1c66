#pragma once
// Makes sure that a timed run begins with every thread on a processor. A worker whose processor something
// else has would not come, and the caller would do its part as well: the run takes twice as long, and no
// preemption tells of it.

namespace viridian::execute::cpu {

// Lets the threads of the calling thread's crew meet at a barrier, and again until they meet within
// microseconds, a few times at most. Returns whether they did. Call it within a call of the crew's pool
// (pool/pool.hpp).
[[nodiscard]] bool muster(int threads);

}  // namespace viridian::execute::cpu
