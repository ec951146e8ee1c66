#pragma once
// Finds the choices that only the noise of their prices may have kept in or out of an assignment, so that
// they can be timed again before the assignment is believed. An assignment picks the minimum of noisy
// prices, so what it picked looks cheaper than it is (the winner's curse), and a close rival may have lost
// by chance.
#include "viridian/cost/source.hpp"
#include "viridian/plan/assignment.hpp"
#include "viridian/search/objective/objective.hpp"

namespace viridian::search {

// A Yardstick says what a price counts: what a second and a joule add to the objective's value.
struct Yardstick {
    double per_second = 1;
    double per_joule = 0;

    // Returns the yardstick of `objective` for plans near `totals`; `start` holds the totals that the
    // objective is relative to. An objective of neither time nor energy counts time.
    [[nodiscard]] static Yardstick of(const Objective& objective, const Metrics& totals,
                                      const Metrics& start);
    // Return the ends of what a price counts. Joules of a model are as far off as its seconds, because the
    // model's own error is the same for every price; metered joules have their own interval.
    [[nodiscard]] double low(const cost::Price& price) const;
    [[nodiscard]] double high(const cost::Price& price) const;
};

// Returns what `assignment` chose in `graph`, and what comes close to it, measured by `yardstick`:
//  - other choices of a chosen region, if the low end of their price is within `margin` (a share) of the
//    high end of the chosen price;
//  - choices of one of `regions` that merges chosen regions, compared with the sum of their prices;
//  - the cheapest cut of a chosen region into smaller ones of `regions`, compared with its price.
// Prices outside the region (conversions, what formats cost elsewhere) are not weighed: they add to both
// sides or decide by more than noise. Each pair of signature and choice is listed once, with its price.
// The assignment must come from a solver, which fills in the prices. Errors: those of `source`.
[[nodiscard]] Result<std::vector<plan::AssignedRegion>> close_choices(
    const graph::Graph& graph, const std::vector<plan::Region>& regions, const cost::PriceSource& source,
    const plan::Assignment& assignment, const Yardstick& yardstick = {}, double margin = 0.03);

}  // namespace viridian::search
