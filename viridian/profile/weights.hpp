#pragma once
// Estimates how many bytes a network moves from and to main memory: weights and activations that the caches
// cannot hold.
#include "viridian/plan/plan.hpp"

namespace viridian::profile {

// Returns whether all weights of the network fit into half of the last-level cache, so that a run finds
// them there.
[[nodiscard]] bool weights_stay_cached(const graph::Graph& network);

// Returns the bytes of the weights that a region reads, as the choice stores them: a choice that reads bf16
// packs matrices and filters in bf16; biases stay as they are.
[[nodiscard]] Bytes weight_bytes(const graph::Graph& graph, const plan::Region& region,
                                 const plan::Choice& choice);

// Return the bytes by which the activations that a region, or a conversion, reads and writes exceed half of
// the last-level cache. So many of them come from memory or go there; the others stay where the kernel before
// left them.
[[nodiscard]] Bytes activation_traffic(const graph::Graph& graph, const plan::Region& region,
                                       const plan::Choice& choice);
[[nodiscard]] Bytes activation_traffic(const graph::Dims& dims, const plan::Format& from,
                                       const plan::Format& to);

// Returns the bytes that one run of a plan moves from and to memory: its activations, and its weights unless
// these stay in the cache.
[[nodiscard]] Bytes memory_traffic(const graph::Graph& graph, const plan::Plan& plan);

}  // namespace viridian::profile
