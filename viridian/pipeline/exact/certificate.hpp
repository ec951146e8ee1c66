#pragma once
// Proves that a plan is optimal, from nothing but the network and two solutions. The event times give a cost
// (primal) and the flow gives a lower bound by weak duality (dual). Both are computed in 128-bit integers. If
// they are equal, no plan costs less.
#include "viridian/pipeline/exact/parametric_flow.hpp"

namespace viridian::pipeline {

struct Certificate {
    Nanoseconds time = 0;
    Int128 primal = 0;      // attojoules above waiting: sum of unit costs at the event times
    Int128 dual = 0;        // no plan that ends by `time` costs less
    bool feasible = false;  // event times respect every dependency; flow is conserved and not negative
    [[nodiscard]] bool proves_optimal() const { return feasible && primal == dual; }
};

// Computes both sides from `solution`, which belongs to `network`.
[[nodiscard]] Certificate certify(const Network& network, const FlowSolution& solution);

}  // namespace viridian::pipeline
