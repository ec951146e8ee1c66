#pragma once
// The exact planner computes the whole time-energy frontier, or the best plan for one deadline with its
// certificate.
#include "viridian/pipeline/exact/certificate.hpp"
#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

// A FrontierPoint is a breakpoint of the frontier. The cost of a unit is its energy above waiting: its energy
// minus the waiting power of its rank times its duration. The energy of a plan is the sum of all costs plus
// `total_wait` times the plan's time.
struct FrontierPoint {
    Nanoseconds time = 0;
    Int128 cost = 0;         // sum over all units, in attojoules
    std::int64_t slope = 0;  // -d(cost)/d(time) in nanowatts just below this time; 0 for the fastest point
};

struct ExactFrontier {
    std::vector<FrontierPoint> points;  // fastest first; the cost is linear in between
    std::int64_t certified = 0;         // breakpoints whose primal and dual agree
    Watts total_wait;                   // of all ranks

    // Returns the energy at `point` with all waiting: Σ unit energies + waiting power × waiting time.
    [[nodiscard]] Joules energy(const FrontierPoint& point) const;
    // Returns the energy at any `time`. It is infinite below the fastest plan; beyond the slowest plan
    // everyone waits for the rest.
    [[nodiscard]] Joules energy_at(Nanoseconds time) const;
    // Returns the index of the point with the least energy. Later points need more energy and more time.
    [[nodiscard]] std::size_t cheapest() const;
};

// The most units that a network may have; larger ones are planned by tying (`tied.hpp`).
inline constexpr int most_exact_units = 1 << 19;

// Returns the whole frontier. If `certify_each`, primal and dual are computed again at every breakpoint,
// otherwise at both ends only. Errors: limit_exceeded.
[[nodiscard]] Result<ExactFrontier> exact_frontier(const Network& network, bool certify_each = true);

struct ExactPlan {
    std::vector<Nanoseconds> duration;  // per unit, on its curve
    FlowSolution solution;
    Certificate certificate;
};

// Returns the plan of least energy that ends by `deadline`; 0 asks for the fastest. Errors: limit_exceeded;
// invalid_argument if even the fastest clocks end later.
[[nodiscard]] Result<ExactPlan> exact_plan(const Network& network, Nanoseconds deadline = 0);

// Returns the time of the least total energy, waiting included, which is the end of the useful frontier. For
// a network that is too large to plan exactly it returns the time of the slowest plan.
[[nodiscard]] Nanoseconds cheapest_time(const Network& network);

}  // namespace viridian::pipeline
