#pragma once
// AttentionGrad, a private operator of the domain `viridian`, is the gradient of attention,
// y = (Softmax(hide(q·k·scale + masks)) · kept · kept_scale)·v, from its inputs alone: nothing of the forward
// part is kept for it.
//
//   inputs       q [heads…, queries, size], k [heads…, size, keys], v [heads…, keys, columns],
//                dy [heads…, queries, columns]; then `kept`, boolean [heads…, queries, keys], with `drops`;
//                up to two masks; and boolean flags with `hides`. Masks and flags broadcast to the scores
//                [heads…, queries, keys]
//   attributes   drops, 1 if probabilities were dropped; hides, 1 if `hidden_score` stands for scores whose
//                flag is false, 2 for those whose flag is true; scale, kept_scale and hidden_score, doubles
//   outputs      dq [heads…, queries, size], dk [heads…, size, keys], dv [heads…, keys, columns]
//
// Leading extents of 1 are repeated; the outputs have all heads.
#include "viridian/graph/operators/names.hpp"

namespace viridian::graph::op {

inline constexpr KnownOperator AttentionGrad{"AttentionGrad", "viridian"};

}  // namespace viridian::graph::op
