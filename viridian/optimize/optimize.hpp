#pragma once
// optimize() is the main job: it finds a cheaper plan that computes the same as a model. The plan is the
// cheapest of its graph's plans at the measured prices if the solver is exact and its gap is 0.
#include "viridian/base/listener.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {

// Searches graphs equal to `original` for the cheapest plan under `options.objective`, proves that it gives
// the original's outputs, and measures both plans in turn. Without a device (null), prices alone decide, and
// nothing is run or proven. The device and `costs` outlive the result, which refers to kernels that the
// device prepared.
// Errors: those of pricing and solving; not_equal if no plan gives the original's outputs; cancelled.
[[nodiscard]] Result<Optimized> optimize(const graph::Graph& original, Costs& costs, execute::Device* device,
                                         const OptimizeOptions& options, Listener& listener);

}  // namespace viridian::optimize
