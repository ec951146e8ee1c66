#pragma once
// Proof that a plan is optimal, recomputed from nothing but the network and the two solutions: the cost of
// the event times (primal) and the bound from the flow (dual, weak duality), both in 128-bit integers. Equal
// = optimal.
#include "viridian/pipeline/exact/parametric_flow.hpp"

namespace viridian::pipeline {

struct Certificate {
    Nanoseconds time = 0;
    Int128 primal = 0;      // attojoules above waiting: sum of unit costs at the event times
    Int128 dual = 0;        // no plan that ends by `time` costs less
    bool feasible = false;  // event times respect every dependency; flow is conserved and not negative
    [[nodiscard]] bool proves_optimal() const { return feasible && primal == dual; }
};

[[nodiscard]] Certificate certify(const Network& network, const FlowSolution& solution);

}  // namespace viridian::pipeline
