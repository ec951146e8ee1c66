#pragma once
// Defines the results of this room as plain data: a plan with its simulation, and a frontier.
// `plan_json.hpp` writes and reads them, and the room `report` draws them.
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/energy.hpp"
#include "viridian/base/units.hpp"

namespace viridian::pipeline {

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
    Seconds slack;          // how much longer it could take, alone
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
    std::vector<std::pair<Seconds, Bytes>> memory;  // held from each time on
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
    std::vector<RankResult> ranks;
    Seconds time;
    Joules energy, unit_energy, waiting_energy;
    Seconds maximum_time;  // every unit at its highest clock
    Joules maximum_energy;
    std::int64_t iterations = 0;
    std::optional<CertificateResult> certificate;
    std::optional<Joules> bound;
    bool exact = false;
    Provenance provenance;
    std::vector<std::string> notes;
};

struct FrontierResult {
    std::string schedule;
    int stages = 0, micro_batches = 0;
    std::vector<FrontierPair> points;  // every breakpoint that spends less energy for more time
    std::vector<FrontierPair> beyond;  // the others: for when the end is later anyway (a straggler)
    std::int64_t certified = 0;
    std::vector<std::pair<std::string, FrontierPair>> planners;  // for the picture
    Provenance provenance;
    Seconds elapsed;
};

}  // namespace viridian::pipeline
