#pragma once
// Defines what a planner has to know of each stage: measured time and energy by clock, waiting power, memory
// and transfers. Energies are those of all devices that share the stage's clock (the whole tensor-parallel
// group).
#include <array>
#include <span>
#include <string>
#include <vector>

#include "viridian/base/energy.hpp"
#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"
#include "viridian/pipeline/unit.hpp"

namespace viridian::pipeline {

// One measurement: at this clock, one unit takes this long and this much energy.
struct Point {
    Hertz clock;
    Seconds time;
    Joules energy;
    bool operator==(const Point&) const = default;
};

struct StageProfile {
    // The points of forward, backward and weight: clocks rise, times never do. Those of weight may be empty.
    std::array<std::vector<Point>, profiled_kinds.size()> points;
    Watts wait;          // of the device while it waits
    Bytes activation;    // kept from a forward to the unit that frees it; 0: not known, not checked
    Bytes weight_stash;  // the part of it kept between backward and weight (zero bubble)
    Bytes weights;       // parameters, gradients, optimiser state
    Bytes memory;        // of the device; 0: unlimited
    std::string device;

    [[nodiscard]] const std::vector<Point>& of(Kind kind) const {
        return points.at(static_cast<std::size_t>(kind));
    }
    [[nodiscard]] std::vector<Point>& of(Kind kind) { return points.at(static_cast<std::size_t>(kind)); }
};

struct Profile {
    std::vector<StageProfile> stages;
    // Time between stages s and s + 1, in either direction, if they are on different ranks. Empty: none.
    std::vector<Seconds> transfer;
    Seconds all_reduce;      // at the end of each stage's work; 0: none
    Seconds switch_latency;  // a change of clock holds the device this long
    Joules switch_energy;
    Seconds dwell;  // a clock, once set, is kept at least this long
    Provenance provenance;

    [[nodiscard]] int size() const { return static_cast<int>(stages.size()); }
};

// The rules of a usable profile: every stage has forward and backward points; times and energies positive and
// finite; a higher clock never takes longer. Sorts points by clock.
// Errors: malformed or missing_entry, naming stage, instruction and clock.
[[nodiscard]] Result<void> check_and_sort(Profile& profile);

// Every energy and waiting power times `count`: the replicas of data parallelism, or the equal members of a
// tensor-parallel group, which share one clock.
void replicate(Profile& profile, int count);

// Different devices under one clock (a tensor-parallel group of mixed GPUs): at each clock that all members
// know, the slowest decides the time and the others wait. Errors: mismatch when they have no common clock.
[[nodiscard]] Result<StageProfile> share_clock(std::span<const StageProfile> members);

// For zero-bubble schedules over a profile without weight rows: `share` of every backward becomes a weight
// unit. The result is an estimate.
void split_backward(Profile& profile, double share);

}  // namespace viridian::pipeline
