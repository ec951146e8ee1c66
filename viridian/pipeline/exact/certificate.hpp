#pragma once
// Proves that a plan is optimal, from nothing but the network and two solutions: the cost of the event times
// (primal) and the lower bound that the flow gives (dual, by weak duality), both in 128-bit integers. If they
// are equal, no plan costs less.
#include "viridian/pipeline/exact/parametric_flow.hpp"

namespace viridian::pipeline {

struct Certificate {
    Nanoseconds time = 0;
    Int128 primal = 0;      // attojoules above waiting: sum of unit costs at the event times
    Int128 dual = 0;        // no plan that ends by `time` costs less
    bool feasible = false;  // event times respect every dependency; flow is conserved and not negative
    [[nodiscard]] bool proves_optimal() const { return feasible && primal == dual; }
};

// Computes both sides again.
[[nodiscard]] Certificate certify(const Network& network, const FlowSolution& solution);

}  // namespace viridian::pipeline
