#pragma once
// Defines the results of this room as plain data: a plan with its simulation, and a frontier.
// `plan_json.hpp` writes and reads them, and the room `report` draws them.
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/energy.hpp"
#include "viridian/base/units.hpp"

namespace viridian::pipeline {

// A PlannedUnit is one unit with its clock and times in a plan.
struct PlannedUnit {
    int stage = 0;
    std::string kind;  // forward, backward, weight, reduce
    int micro_batch = 0;
    Hertz clock;         // 0: a unit without clock
    Hertz second_clock;  // 0: one clock; otherwise the unit runs at it from `second_after` on
    Seconds second_after;
    Seconds start;
    Seconds duration;
    Joules energy;
    Seconds slack;          // it could take so much longer, alone, without delaying the end
    bool critical = false;  // on ENVPIPE's walk back from the end
    bool overlapped = false;
};

struct RankResult {
    std::vector<PlannedUnit> units;
    Seconds busy, waiting;
    std::int64_t usable_bubbles = 0, unusable_bubbles = 0;
    Seconds usable_time, unusable_time;
    std::int64_t clock_switches = 0;
    Bytes memory_peak, memory_capacity;  // capacity 0: unlimited
    int most_in_flight = 0;
    std::vector<std::pair<Seconds, Bytes>> memory;  // held from each time on, weights included
};

struct CertificateResult {
    Seconds time;
    std::string primal, dual;  // attojoules above waiting, 128-bit integers as text
    bool optimal = false;
};

struct FrontierPair {
    Seconds time;
    Joules energy;
};

struct PlanResult {
    std::string schedule, planner;
    int stages = 0, micro_batches = 0;
    bool split_backward = false;
    int clocks_per_unit = 1;  // 2: a unit may run at two clocks in turn, and the change costs nothing
    std::vector<RankResult> ranks;
    Seconds time;                                // of an iteration
    Joules energy, unit_energy, waiting_energy;  // the first is the sum of the other two
    Seconds maximum_time;                        // with every unit at its highest clock
    Joules maximum_energy;
    std::int64_t iterations = 0;                   // of planners that iterate
    std::optional<CertificateResult> certificate;  // of the exact planner's relaxation
    std::optional<Joules> bound;                   // no plan by the deadline needs less
    bool exact = false;                            // the plan meets its bound
    Provenance provenance;                         // of the profile
    std::vector<std::string> notes;                // sentences for the user
};

struct FrontierResult {
    std::string schedule;
    int stages = 0, micro_batches = 0;
    std::vector<FrontierPair> points;  // every breakpoint that spends less energy for more time
    std::vector<FrontierPair> beyond;  // the others, for pipelines that wait for a straggler anyway
    std::int64_t certified = 0;        // breakpoints whose primal and dual agree
    std::vector<std::pair<std::string, FrontierPair>> planners;  // other planners' plans, for the picture
    Provenance provenance;
    Seconds elapsed;  // time of the computation
};

}  // namespace viridian::pipeline
