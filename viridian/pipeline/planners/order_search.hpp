#pragma once
// Searches for better orders: warm-up depths that fit the activation memory, each priced by the exact
// planner. It also gives a bound that holds for every order.
#include <span>

#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/profile/profile.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

// Returns a bound: no order of the same units on the same ranks needs less energy by `deadline`. For the
// bound each rank slows its units by itself, first those for which that saves most, in the time that the
// stages before it leave (a convex knapsack).
[[nodiscard]] Joules any_order_bound(const Schedule& schedule, const Profile& profile, const Network& network,
                                     Nanoseconds deadline);

struct OrderSearch {
    Schedule schedule;       // the best order found
    std::vector<int> depth;  // its warm-up depth on each stage
    Joules energy;           // of its exact plan, waiting until the deadline
    Joules first_energy;     // of plain 1F1B by the same deadline; infinite if 1F1B cannot meet it
    int evaluations = 0;     // orders that were priced
};

// Searches for the warm-up depths of least energy by `deadline`. It starts from the depths of 1F1B and of
// ENVPIPE, and makes one stage deeper or shallower by one forward as long as that saves energy. Depths never
// rise along the stages, because that would deadlock, and they fit each stage's memory. At most about
// `evaluations` orders are priced. A `deadline` of 0 means the faster of the two starting orders at the
// highest clocks. Errors: those of make_network and exact_plan.
[[nodiscard]] Result<OrderSearch> search_order(const Profile& profile, int micro_batches,
                                               Nanoseconds deadline, int evaluations);

// Returns for each stage the most forwards that fit its memory, never more than on the stage before it.
[[nodiscard]] std::vector<int> deepest_warm_up(const Profile& profile, int micro_batches);

}  // namespace viridian::pipeline
