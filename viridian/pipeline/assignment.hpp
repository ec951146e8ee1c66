#pragma once
// Defines what a planner decides: for each unit one clock, or two neighbouring clocks one after the other.
#include <optional>
#include <string>
#include <vector>

#include "viridian/pipeline/exact/certificate.hpp"
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

struct Assignment {
    std::vector<Nanoseconds> duration;
    // Index into the curve's measured points, -1 for a unit without clock. Empty: each unit runs on its
    // curve, at two neighbouring clocks in turn where its duration lies between them.
    std::vector<int> level;
    std::vector<Joules> energy;    // per unit, if it follows from neither of the two; empty: it does
    std::vector<Nanoseconds> gap;  // lost before each unit to a change of clock; empty: none
};

// Time and energy of a unit at the measured point `level`; for -1 those of a unit without a clock.
[[nodiscard]] Nanoseconds duration_at(const Curve& curve, int level);
[[nodiscard]] Joules energy_at(const Curve& curve, int level);

// The assignment of one measured point to each unit.
[[nodiscard]] Assignment at_levels(const Network& network, std::vector<int> level);

[[nodiscard]] Joules unit_energy(const Network& network, const Assignment& assignment, int unit);
// The energy of all units, plus waiting power × waiting time of every rank until `end`.
[[nodiscard]] Joules total_energy(const Network& network, const Assignment& assignment, Nanoseconds end);

}  // namespace viridian::pipeline
