#pragma once
// Translates the data flow of a model into the names of a trace, for the arrows of diagrams. The names of a
// model's nodes and of a trace's operations differ: "/encoder/layer.0/MatMul" and
// "encoder/layer/0/aten::matmul" meet in the layer that both know. Nodes that the trace does not know
// (folded or fused ones) pass their data on to the next node that it knows.
#include "viridian/account/result.hpp"

namespace viridian::account {

// Returns `flows`, which lead from node to node of a model and come in any order, as flows between names that
// `accounting` knows: whole names, or the layers in which they are. Flows within one name are left out.
[[nodiscard]] std::vector<Flow> match_flows(const std::vector<Flow>& flows, const Accounting& accounting);

}  // namespace viridian::account
