#pragma once
// Plans several pipelines under one power limit. All slow down by the same factor, the smallest that keeps
// the sum of their average powers below the cap. Power at a longer time never rises, so the factor is found
// by bisection.
#include <span>

#include "viridian/pipeline/exact/exact.hpp"

namespace viridian::pipeline {

struct CappedPipeline {
    Nanoseconds time = 0;  // of one iteration
    Joules energy;         // of one iteration
    [[nodiscard]] Watts power() const { return energy / to_seconds(time); }
};
struct PowerCap {
    double slowdown = 1;  // factor on every pipeline's fastest time
    std::vector<CappedPipeline> pipelines;
    Watts power;  // of all together
};

// Returns the plan of all `pipelines`, given by their exact frontiers, under the power limit `cap`. Errors:
// invalid_argument if waiting alone takes more than `cap`.
[[nodiscard]] Result<PowerCap> share_power(std::span<const ExactFrontier> pipelines, Watts cap);

}  // namespace viridian::pipeline
