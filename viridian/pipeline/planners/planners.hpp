#pragma once
// Declares the planners, which choose the clock of every unit of a pipeline. Each is one row. `exact`, its
// rounding to whole clocks, `switching` and `tied` come from this project; the others are the methods with
// which they are compared.
#include <optional>
#include <string>
#include <vector>

#include "viridian/pipeline/assignment.hpp"

namespace viridian::pipeline {

struct PlanRequest {
    Nanoseconds deadline = 0;   // at most this; 0: as fast as the fastest clocks allow
    bool straggler = false;     // everyone waits until the deadline anyway, so energy above waiting decides
    Seconds quantum{0.001};     // Perseus: one step of time
    bool whole_clocks = false;  // exact: one clock per unit instead of two in turn
};

struct PlannerAnswer {
    Assignment assignment;
    int iterations = 0;                      // ENVPIPE: training steps; Perseus: cuts
    std::optional<Certificate> certificate;  // of the relaxation at the deadline
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
[[nodiscard]] const std::vector<PlannerRow>& planners();
// Errors: invalid_argument with the list of names.
[[nodiscard]] Result<PlannerRow> find_planner(std::string_view name);

// Every unit at its highest clock.
[[nodiscard]] std::vector<int> maximum_levels(const Network& network);
// Every unit at the clock with the least measured energy (the bottom of ENVPIPE's valley, §2.2).
[[nodiscard]] std::vector<int> valley_levels(const Network& network);
// The valley inside the outer envelope, full clocks on it (ENVPIPE §4.4, before any reconfiguration).
[[nodiscard]] std::vector<int> unreconfigured_levels(const Schedule& schedule, const Network& network);

enum class Reconfigure {
    balanced,      // the slowest units of the critical path, one clock up
    greedy,        // the last unit of the critical path below the top, straight to the top (the paper)
    greedy_steps,  // the same, 90 MHz at a time (the published code)
};
// ENVPIPE §4.4: reconfigures the critical path until it is the envelope, or cannot get faster.
[[nodiscard]] PlannerAnswer envpipe(const Schedule& schedule, const Network& network, Reconfigure how);

// Perseus (arXiv:2312.06902) as lowtime runs it: durations in whole quanta rounded down, an exponential
// fitted to each cost, cuts of one quantum from the slowest plan; then the slowest clock that fits each
// promised time. Errors: limit_exceeded.
[[nodiscard]] Result<PlannerAnswer> perseus(const Network& network, Nanoseconds deadline,
                                            Nanoseconds quantum);

// Whole clocks: the exact plan rounded to the next faster clock, then slowed again where slack is left. The
// relaxation is the bound.
[[nodiscard]] Result<PlannerAnswer> whole_clocks(const Network& network, Nanoseconds deadline);

}  // namespace viridian::pipeline
