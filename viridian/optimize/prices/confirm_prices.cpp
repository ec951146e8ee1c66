#include "viridian/optimize/prices/confirm_prices.hpp"

#include "viridian/optimize/planned.hpp"
#include "viridian/search/assign/close_choices.hpp"

namespace viridian::optimize {

namespace {

// Times what decides the best plan with the prices of `source` again. Returns how much that was.
Result<std::size_t> confirm_best(const graph::Graph& graph, const std::vector<plan::Region>& regions,
                                 const cost::PriceSource& source, Costs& costs,
                                 const search::Objective& objective, const search::AssignOptions& solver,
                                 bool rivals) {
    VIRIDIAN_TRY(const search::Instance instance, search::Instance::of(graph, source, solver));
    VIRIDIAN_TRY(const search::Outcome outcome, search::solve(instance, objective, solver));
    std::vector<plan::AssignedRegion> doubtful = outcome.assignment.regions;
    if (rivals) {
        VIRIDIAN_TRY(doubtful,
                     search::close_choices(graph, regions, source, outcome.assignment,
                                           search::Yardstick::of(objective, outcome.totals, outcome.start)));
    }
    return costs.confirm(graph, doubtful);
}

}  // namespace

Result<void> confirm_prices(const graph::Graph& graph, Costs& costs, const search::Objective& objective,
                            const search::AssignOptions& solver, bool rivals) {
    constexpr int most_rounds = 6;
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    for (int round = 0; round < most_rounds; ++round) {
        VIRIDIAN_TRY(std::size_t timed,
                     confirm_best(graph, regions, costs.source(), costs, objective, solver, rivals));
        for (const PlanThreads& fewer : costs.on_fewer_threads()) {
            if (!rivals) break;  // the first plan runs on all threads
            auto more = confirm_best(graph, regions, fewer.source, costs, objective, solver, rivals);
            if (!more.ok() && tells_of_no_plan(more.error())) continue;
            VIRIDIAN_TRY(const std::size_t timed_on_fewer, std::move(more));
            timed += timed_on_fewer;
        }
        if (timed == 0) break;
    }
    return {};
}

}  // namespace viridian::optimize
