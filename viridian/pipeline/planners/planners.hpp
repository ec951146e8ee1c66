#pragma once
// Declares the planners, which choose the clock of every unit of a pipeline. Each planner is one row of
// `planners()`. `exact`, its rounding to whole clocks, `switching` and `tied` come from this project; the
// others are the methods with which they are compared.
#include <optional>
#include <string>
#include <vector>

#include "viridian/pipeline/assignment.hpp"

namespace viridian::pipeline {

struct PlanRequest {
    Nanoseconds deadline = 0;  // the iteration ends by then; 0: as fast as the fastest clocks allow
    // Everyone waits until the deadline anyway, so only energy above waiting counts. If false, `exact` and
    // `switching` cut the deadline to the time of least energy.
    bool straggler = false;
    Seconds quantum{0.001};     // for `perseus`: one step of time
    bool whole_clocks = false;  // for `exact`: one clock per unit instead of two in turn
};

struct PlannerAnswer {
    ClockAssignment assignment;
    int iterations = 0;                      // training steps of ENVPIPE, cuts of Perseus
    std::optional<Certificate> certificate;  // of the relaxation to two clocks per unit, at the deadline
    std::optional<Joules> bound;             // no plan by the deadline needs less
    bool exact = false;                      // the plan meets its bound
};

struct PlanInput {
    const Schedule& schedule;
    const Profile& profile;
    const Network& network;
};

struct PlannerRow {
    std::string name;
    std::string summary;
    Result<PlannerAnswer> (*plan)(const PlanInput& input, const PlanRequest& request);
};
// Returns all planners.
[[nodiscard]] const std::vector<PlannerRow>& planners();
// Returns the planner called `name`. Errors: invalid_argument, with the list of names.
[[nodiscard]] Result<PlannerRow> find_planner(std::string_view name);

// These three return per unit the index of a measured point, -1 for a unit without a clock.
// `maximum_levels` puts every unit at its highest clock.
[[nodiscard]] std::vector<int> maximum_levels(const Network& network);
// `valley_levels` puts every unit at the clock of least measured energy (the bottom of ENVPIPE's valley,
// §2.2).
[[nodiscard]] std::vector<int> valley_levels(const Network& network);
// `unreconfigured_levels` uses the highest clocks on the outer envelope (`envelope`) and the valley inside it
// (ENVPIPE §4.4, before any reconfiguration).
[[nodiscard]] std::vector<int> unreconfigured_levels(const Schedule& schedule, const Network& network);

// Reconfigure says which units ENVPIPE speeds up in one step, and by how much.
enum class Reconfigure {
    balanced,      // the slowest units of the critical path, by one clock
    greedy,        // the last unit of the critical path that is below the top, to the top (the paper)
    greedy_steps,  // that unit by 90 MHz (the published code)
};
// Plans as ENVPIPE does (§4.4): starts from `unreconfigured_levels` and speeds up units of the critical path
// until the envelope is critical or nothing can get faster.
[[nodiscard]] PlannerAnswer envpipe(const Schedule& schedule, const Network& network, Reconfigure how);

// Plans as Perseus does (arXiv:2312.06902), in the way of its library lowtime. Durations are whole multiples
// of `quantum`, rounded down, and an exponential is fitted to each cost. From the slowest plan, cuts of one
// quantum lead to `deadline`. Each unit then takes the slowest clock that fits its promised time. Errors:
// limit_exceeded.
[[nodiscard]] Result<PlannerAnswer> perseus(const Network& network, Nanoseconds deadline,
                                            Nanoseconds quantum);

// Plans one clock per unit by rounding the exact plan, at once and step by step, and then by exchanging time
// between units (docs/pipeline.md, "Exact"). The exact plan, which may use two clocks in a unit, is the
// bound. Errors: those of exact_plan.
[[nodiscard]] Result<PlannerAnswer> whole_clocks(const Network& network, Nanoseconds deadline);

}  // namespace viridian::pipeline
