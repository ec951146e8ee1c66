#pragma once
// Estimates how many bytes of weights a network reads from main memory.
#include "viridian/plan/plan.hpp"

namespace viridian::profile {

// Returns whether all weights of the network fit into half of the last-level cache, so that a run finds
// them there.
[[nodiscard]] bool weights_stay_cached(const graph::Graph& network);

// Returns the bytes of the weights that a region reads, as the choice stores them: a choice that reads bf16
// packs matrices and filters in bf16; biases stay as they are.
[[nodiscard]] Bytes weight_bytes(const graph::Graph& graph, const plan::Region& region,
                                 const plan::Choice& choice);

// Returns the bytes of weights that one run of a plan reads from memory: none if the weights stay in the
// cache.
[[nodiscard]] Bytes weight_traffic(const graph::Graph& graph, const plan::Plan& plan);

}  // namespace viridian::profile
