#pragma once
// Makes a training step fit into the memory that its run may need.
#include <functional>

#include "viridian/base/units.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// Returns the bytes that a run of a step needs: those of its values and what its kernels need besides.
using RunNeed = std::function<Result<Bytes>(const graph::Graph& step)>;

// Simplifies `step`, because a run would do so, and makes it compute activations again (recompute()) until
// its run needs at most `most` bytes by `need`. Without `need` (null), a run is taken to need a twentieth
// more than its values. Errors: limit_exceeded if the step needs more in any case; those of recompute() and
// `need`.
[[nodiscard]] Result<void> fit(graph::Graph& step, Bytes most, const RunNeed& need);

}  // namespace viridian::gradient
