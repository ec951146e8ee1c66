#include "viridian/optimize/optimize.hpp"

#include <chrono>

#include "viridian/optimize/job.hpp"

namespace viridian::optimize {

Result<Optimized> optimize(const graph::Graph& original, Costs& costs, execute::Device* device,
                           const OptimizeOptions& options, Listener& listener) {
    const auto started = std::chrono::steady_clock::now();
    Job job(original, costs, device, options, listener);
    VIRIDIAN_TRY(job.rewrite());
    VIRIDIAN_TRY(job.compute_reference());
    VIRIDIAN_TRY(job.forecast_prices());
    VIRIDIAN_TRY(job.plan_baseline());
    VIRIDIAN_TRY(job.search());
    VIRIDIAN_TRY(job.plan_and_prove());
    VIRIDIAN_TRY(job.measure());
    VIRIDIAN_TRY(job.find_frontier());
    VIRIDIAN_TRY(Optimized result, job.result());
    result.elapsed =
        Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    return result;
}

}  // namespace viridian::optimize
