#pragma once
// Makes a training step need less memory. What the forward pass computes is mostly kept until the backward
// pass reads it; some of it can be computed again then, from what is kept anyway (Chen et al. 2016, "Training
// Deep Nets with Sublinear Memory Cost").
#include "viridian/base/units.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::gradient {

// A Recomputation says what recompute() did.
struct Recomputation {
    std::int64_t nodes = 0;  // that are computed twice
    Flop flop;               // of their second time
    // States, constants, inputs and the values that are alive at the same time, if reshapes and
    // transpositions are views and optimisers write in place.
    Bytes before, after;
};

// Computes values of `step` again, until a run needs at most `most` bytes, counted as Recomputation says, or
// until nothing helps any more: then `after` is more than that, and as little as was found.
// At the moment at which most is alive, the value goes that frees most bytes for the time of computing it
// again, by the flop and bytes of its nodes; a new moment may be the worst then (a greedy choice like that of
// Kirisame et al. 2021, "Dynamic Tensor Rematerialization"). Gradients stay the same up to rounding. The
// nodes get new ids, in the order in which they are to run: updates of parameters come as early as their
// gradients allow, also where nothing is computed again. Errors: those of data_flow().
Result<Recomputation> recompute(graph::Graph& step, Bytes most);

}  // namespace viridian::gradient
