#pragma once
// Defines ClockAssignment, which is what a planner decides: for each unit one clock, or two neighbouring
// clocks one after the other.
#include <optional>
#include <string>
#include <vector>

#include "viridian/pipeline/exact/certificate.hpp"
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

struct ClockAssignment {
    std::vector<Nanoseconds> duration;  // per unit
    // Per unit the index of its clock among the curve's measured points, or -1 for a unit without a clock.
    // If `level` is empty, each unit runs on its curve: at two neighbouring clocks in turn if its duration
    // lies between theirs.
    std::vector<int> level;
    // Energy per unit. If `energy` is empty, it follows from `level` or from the curve.
    std::vector<Joules> energy;
    std::vector<Nanoseconds> gap;  // lost before each unit to a change of clock; empty: none
};

// Return the time and the energy of a unit at the measured point `level` of its curve. -1 means a unit
// without a clock, whose duration is fixed.
[[nodiscard]] Nanoseconds duration_at(const Curve& curve, int level);
[[nodiscard]] Joules energy_at(const Curve& curve, int level);

// Returns the assignment of the measured point level[u] to each unit u.
[[nodiscard]] ClockAssignment at_levels(const Network& network, std::vector<int> level);

// Returns the energy of the unit numbered `unit`.
[[nodiscard]] Joules unit_energy(const Network& network, const ClockAssignment& assignment, int unit);
// Returns the energy of all units, plus waiting power × waiting time of every rank until `end`.
[[nodiscard]] Joules total_energy(const Network& network, const ClockAssignment& assignment, Nanoseconds end);

}  // namespace viridian::pipeline
