#pragma once
// Searches for better orders: warm-up depths that fit the activation memory, each priced by the exact
// planner. It also gives a bound that holds for every order.
#include <span>

#include "viridian/pipeline/planners/planners.hpp"
#include "viridian/pipeline/profile/profile.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

// No order of the same units on the same ranks needs less energy by `deadline`: each rank, alone, slows its
// units where that pays most, with only the time that the stages before it leave (convex knapsack).
[[nodiscard]] Joules any_order_bound(const Schedule& schedule, const Profile& profile, const Network& network,
                                     Nanoseconds deadline);

struct OrderSearch {
    Schedule schedule;
    std::vector<int> depth;
    Joules energy;        // of its exact plan, waiting until the deadline
    Joules first_energy;  // of plain 1F1B by the same deadline; infinite if it cannot meet it
    int evaluations = 0;
};

// From 1F1B and ENVPIPE's depths, one stage deeper or shallower at a time while that saves energy. Depths
// never rise along the stages (that would deadlock) and fit each stage's memory. `deadline` 0: the fastest of
// the two starting orders. Errors: those of make_network and exact_plan.
[[nodiscard]] Result<OrderSearch> search_order(const Profile& profile, int micro_batches,
                                               Nanoseconds deadline, int evaluations);

// The most forwards that fit each stage's memory.
[[nodiscard]] std::vector<int> deepest_warm_up(const Profile& profile, int micro_batches);

}  // namespace viridian::pipeline
