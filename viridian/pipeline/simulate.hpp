#pragma once
// Simulates a plan: computes exact event times, bubbles, critical paths and energy, and time and energy under
// seeded jitter and stragglers.
#include "viridian/pipeline/assignment.hpp"
#include "viridian/pipeline/memory.hpp"

namespace viridian::pipeline {

// A bubble is the time for which a rank waits between two units, or after its last (ENVPIPE §3.2). The part
// of it for which the unit before could run longer without delaying the end is usable. A bubble before the
// first unit is not.
struct Bubbles {
    std::int64_t usable = 0;  // bubbles with any usable part
    std::int64_t unusable = 0;
    Seconds usable_time;
    Seconds unusable_time;
};

struct Simulation {
    Timing timing;
    Nanoseconds end = 0;                 // the makespan, or later if everyone waits for a straggler
    std::vector<Nanoseconds> slack;      // per unit
    std::vector<int> critical;           // units of the path of `walk_back`, first unit first
    std::vector<Seconds> busy;           // per rank
    std::vector<Bubbles> bubbles;        // per rank
    std::vector<std::int64_t> switches;  // changes of clock per rank
    Joules units;                        // Σ unit energies
    Joules waiting;                      // waiting power × waiting time
    [[nodiscard]] Joules energy() const { return units + waiting; }
};
// Simulates `assignment` until `end`, or until its makespan if that is later.
[[nodiscard]] Simulation simulate(const Network& network, const ClockAssignment& assignment,
                                  Nanoseconds end = 0);

// The disturbances of a simulated run: the time of each unit varies, and some ranks are slow.
struct Disturbance {
    double jitter = 0;  // relative standard deviation of each unit's time; cut at ±3 of them
    int runs = 100;
    std::uint64_t seed = 1;
    std::vector<double> straggler;  // per rank: factor on its times; empty: none
};
struct DisturbedRun {
    Seconds mean, worst;  // time of an iteration
    Joules energy;        // mean; a unit's power stays, so its energy grows with its time
};
// Simulates `assignment` as often as `disturbance` says.
[[nodiscard]] DisturbedRun simulate_disturbed(const Network& network, const ClockAssignment& assignment,
                                              const Disturbance& disturbance);

}  // namespace viridian::pipeline
