#pragma once
// optimize() is the main job: it finds the cheapest plan that computes the same as a model.
#include "viridian/base/listener.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {

// Searches for the cheapest plan of `original` under `options.objective`, proves that it gives the original's
// outputs, and measures both plans in turn. Without a device (null), prices alone decide, and nothing is run
// or proven. The device and `costs` outlive the result, which refers to kernels that the device prepared.
// Errors: those of pricing and solving; not_equal if no plan gives the original's outputs; cancelled.
[[nodiscard]] Result<Optimized> optimize(const graph::Graph& original, Costs& costs, execute::Device* device,
                                         const OptimizeOptions& options, Listener& listener);

}  // namespace viridian::optimize
