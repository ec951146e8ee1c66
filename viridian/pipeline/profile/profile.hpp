#pragma once
// Defines Profile, which holds what a planner has to know of each stage: measured time and energy by clock,
// waiting power, memory and transfers. Energies are those of all devices that share the stage's clock (the
// whole tensor-parallel group).
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
    std::string device;  // name, for reports

    // Return the points of units of `kind`.
    [[nodiscard]] const std::vector<Point>& of(Kind kind) const {
        return points.at(static_cast<std::size_t>(kind));
    }
    [[nodiscard]] std::vector<Point>& of(Kind kind) { return points.at(static_cast<std::size_t>(kind)); }
};

struct Profile {
    std::vector<StageProfile> stages;
    // transfer[s] is the time between stages s and s + 1, in either direction, if they are on different
    // ranks. If `transfer` is empty, transfers take no time.
    std::vector<Seconds> transfer;
    Seconds all_reduce;      // at the end of each stage's work; 0: none
    Seconds switch_latency;  // a change of clock holds the device this long
    Joules switch_energy;
    Seconds dwell;  // a clock, once set, is kept at least this long
    Provenance provenance;

    [[nodiscard]] int size() const { return static_cast<int>(stages.size()); }
};

// Sorts the points of every stage by clock and checks that the profile is usable: every stage has forward and
// backward points, times and energies are positive and finite, a higher clock never takes longer, and there
// is no transfer or one per pair of neighbouring stages.
// Errors: malformed or missing_entry, naming stage, instruction and clock; mismatch (number of transfers).
[[nodiscard]] Result<void> check_and_sort(Profile& profile);

// Multiplies every energy and waiting power by `count`: the number of data-parallel replicas, or of equal
// members of a tensor-parallel group, which share one clock.
void replicate(Profile& profile, int count);

// Returns one stage for different devices under one clock (a tensor-parallel group of mixed GPUs). At each
// clock that all `members` have, the slowest member decides the time and the others wait. Errors: mismatch if
// they have no clock in common.
[[nodiscard]] Result<StageProfile> share_clock(std::span<const StageProfile> members);

// Adds weight points to a profile that has none, for zero-bubble schedules: the part `share` (0 to 1) of
// every backward becomes a weight unit. The profile's provenance becomes `estimated`.
void split_backward(Profile& profile, double share);

}  // namespace viridian::pipeline
