#pragma once
// What a network's weights cost in main-memory traffic. Activations stay in cache where they fit.
#include "viridian/plan/plan.hpp"

namespace viridian::profile {

// They fit into half of the last-level cache together: a run finds them there.
[[nodiscard]] bool weights_stay_cached(const graph::Graph& network);

// Of the weights a region reads, as the choice stores them: matrices and filters of a choice that reads bf16
// are packed in bf16, biases stay as they are.
[[nodiscard]] Bytes weight_bytes(const graph::Graph& graph, const plan::Region& region,
                                 const plan::Choice& choice);

// Of one run of a plan: none where the weights stay in cache.
[[nodiscard]] Bytes weight_traffic(const graph::Graph& graph, const plan::Plan& plan);

}  // namespace viridian::profile
