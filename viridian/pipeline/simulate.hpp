#pragma once
// Runs a plan on paper: exact event times, bubbles, critical paths, energy; and again under seeded jitter and
// stragglers.
#include "viridian/pipeline/assignment.hpp"
#include "viridian/pipeline/memory.hpp"

namespace viridian::pipeline {

// A bubble is the waiting between two units of a rank, or after its last (ENVPIPE §3.2). The part of it by
// which the unit before may run longer without delaying the end is usable; a bubble before the first unit
// never is.
struct Bubbles {
    std::int64_t usable = 0;  // bubbles with any usable part
    std::int64_t unusable = 0;
    Seconds usable_time;
    Seconds unusable_time;
};

struct Simulation {
    Timing timing;
    Nanoseconds end = 0;                 // the makespan, or later where everyone waits for a straggler
    std::vector<Nanoseconds> slack;      // per unit
    std::vector<int> critical;           // ENVPIPE Algorithm 2, first unit first
    std::vector<Seconds> busy;           // per rank
    std::vector<Bubbles> bubbles;        // per rank
    std::vector<std::int64_t> switches;  // changes of clock per rank
    Joules units;                        // Σ unit energies
    Joules waiting;                      // waiting power × waiting time
    [[nodiscard]] Joules energy() const { return units + waiting; }
};
[[nodiscard]] Simulation simulate(const Network& network, const Assignment& assignment, Nanoseconds end = 0);

// What goes wrong in a run: each unit's time varies, some ranks are slow.
struct Disturbance {
    double jitter = 0;  // standard deviation of each unit's time, relative; cut at ±3 of them
    int runs = 100;
    std::uint64_t seed = 1;
    std::vector<double> straggler;  // per rank: factor on its times; empty: none
};
struct DisturbedRun {
    Seconds mean, worst;
    Joules energy;  // mean; power stays, so a unit's energy grows with its time
};
[[nodiscard]] DisturbedRun simulate_disturbed(const Network& network, const Assignment& assignment,
                                              const Disturbance& disturbance);

}  // namespace viridian::pipeline
