#pragma once
// Makes programs whose true joules are known, for the selftest: operations with known watts, played through
// models of real sensors. This file shares no code with the methods that it judges. Power is base(t) + the
// sum of what active instances draw; an instance owns what it draws and an equal part of the base among
// those active with it (docs/method.md, 5).
#include <string>
#include <vector>

#include "viridian/account/attribute/leaf.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::account {

struct Scenario {
    std::string name;
    Seconds duration{60};
    int kinds = 38;           // 20 to 900 us, log-uniform; 140 to 680 W with the base
    int per_iteration = 144;  // instances of one iteration of one stream
    int streams = 1;
    double power_jitter = 0.0;  // relative, each instance
    double time_jitter = 0.01;  // relative, each instance
    Watts drift{0};             // of the base, over the run
    Watts noise{1};             // standard deviation of each reading's mean power
    Seconds shift{0.0004};      // readings show the power of that much earlier
    double dropped = 0.0;       // part of the events that the trace lost
    std::uint64_t seed = 1;
};

// Return the two scenarios of the selftest.
[[nodiscard]] Scenario calm();   // 1 W noise, 60 s
[[nodiscard]] Scenario rough();  // 5 % power jitter, 15 W drift, 1.3 ms shift, two streams, 300 s

struct SyntheticProgram {
    std::vector<Leaf> leaves;    // by start; operation = kind
    std::vector<Joules> energy;  // by kind, dropped instances left out
    Joules idle;                 // between instances
    // The device's true energy since the beginning at each change of power.
    std::vector<Nanoseconds> times;
    std::vector<double> cumulative;  // J
};

// Makes a program from `scenario`. Equal seeds give equal programs.
[[nodiscard]] SyntheticProgram synthesize(const Scenario& scenario);

struct SensorModel {
    std::string name;
    meter::Kind kind = meter::Kind::energy_uj;
    Nanoseconds period = 1'000'000;
    Nanoseconds window = 0;  // average_uw: a reading is the mean power over this time before it
};

// Returns the models of all sensors, and plays the program `truth` through one of them.
[[nodiscard]] std::vector<SensorModel> sensor_models();  // 1, 4, 20 ms counters; 25 of 100 ms; 100 ms mean
[[nodiscard]] meter::Series measure(const SyntheticProgram& truth, const SensorModel& sensor,
                                    const Scenario& scenario);

}  // namespace viridian::account
