#pragma once
// What a planner decides: one clock per unit, or a mix of two neighbouring clocks. And what it says about it.
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
    std::vector<Joules> energy;    // per unit, where neither of the two says it; empty: they do
    std::vector<Nanoseconds> gap;  // lost before each unit to a change of clock; empty: none
};

// A unit at measured point `level`.
[[nodiscard]] Nanoseconds duration_at(const Curve& curve, int level);
[[nodiscard]] Joules energy_at(const Curve& curve, int level);

// Durations of all units at their levels.
[[nodiscard]] Assignment at_levels(const Network& network, std::vector<int> level);

[[nodiscard]] Joules unit_energy(const Network& network, const Assignment& assignment, int unit);
// Σ unit energies + waiting power × waiting time of every rank until `end`.
[[nodiscard]] Joules total_energy(const Network& network, const Assignment& assignment, Nanoseconds end);

}  // namespace viridian::pipeline
