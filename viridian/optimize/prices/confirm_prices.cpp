#include "viridian/optimize/prices/confirm_prices.hpp"

#include "viridian/search/assign/close_choices.hpp"

namespace viridian::optimize {

Result<void> confirm_prices(const graph::Graph& graph, Costs& costs, const search::Objective& objective,
                            const search::AssignOptions& solver, bool rivals) {
    constexpr int most_rounds = 6;
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    for (int round = 0; round < most_rounds; ++round) {
        const cost::PriceSource source = costs.source();
        VIRIDIAN_TRY(const search::Instance instance, search::Instance::of(graph, source, solver));
        VIRIDIAN_TRY(const search::Outcome outcome, search::solve(instance, objective, solver));
        std::vector<plan::AssignedRegion> doubtful = outcome.assignment.regions;
        if (rivals) {
            VIRIDIAN_TRY(doubtful, search::close_choices(
                                       graph, regions, source, outcome.assignment,
                                       search::Yardstick::of(objective, outcome.totals, outcome.start)));
        }
        VIRIDIAN_TRY(const std::size_t timed, costs.confirm(graph, doubtful));
        if (timed == 0) break;
    }
    return {};
}

}  // namespace viridian::optimize
