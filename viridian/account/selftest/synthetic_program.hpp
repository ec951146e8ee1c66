#pragma once
// Makes programs whose true joules are known, for the selftest: operations with known watts, played through
// models of real sensors. This file shares no code with the methods that it judges. Power is base(t) + the
// sum of what active instances draw; an instance owns what it draws and an equal part of the base among
// those active with it (docs/method.md, 5). A scenario may also do what no fit of watts per kind expresses:
// power that rises within an instance, a base that follows the temperature, and a governor that changes the
// clock.
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
    int long_kinds = 0;         // of `kinds`, so many last 5 to 50 ms
    double ramp = 0.0;          // an instance's power rises from (1 - ramp) to (1 + ramp) of its mean
    Watts heat{0};          // of the base, once the device is as warm as 400 W make it (8 s time constant)
    double governor = 0.0;  // every 1 to 4 s the clock c changes between 1 and 1 - governor: watts follow
                            // c^3, durations 1 / c
    std::uint64_t seed = 1;
};

// Return the scenarios of the selftest.
[[nodiscard]] Scenario calm();        // 1 W noise, 60 s
[[nodiscard]] Scenario rough();       // 5 % power jitter, 15 W drift, 1.3 ms shift, two streams, 300 s
[[nodiscard]] Scenario unmodelled();  // ramps in long operations, heat and a governor, 120 s

struct SyntheticProgram {
    std::vector<Leaf> leaves;    // by start; operation = kind
    std::vector<Joules> energy;  // by kind, dropped instances left out
    // The device's true energy since the beginning at each change of power.
    std::vector<Nanoseconds> times;
    std::vector<double> cumulative;  // J
};

// Makes a program from `scenario`. Equal seeds give equal programs.
[[nodiscard]] SyntheticProgram synthesize(const Scenario& scenario);

// What a device truly drew from one instant to another: while recorded instances were active, between them,
// and before the first and after the last.
struct DeviceTruth {
    Joules active, idle, unattributed;
};
[[nodiscard]] DeviceTruth device_truth(const SyntheticProgram& program, Nanoseconds from, Nanoseconds to);

struct SensorModel {
    std::string name;
    meter::Kind kind = meter::Kind::energy_uj;
    Nanoseconds period = 1'000'000;
    Nanoseconds window = 0;  // average_uw: a reading is the mean power over this time before it
    // energy_uj: the recorder reads so often, and stamps what it reads with the time of reading; 0: readings
    // are stamped when the counter is renewed.
    Nanoseconds read_every = 0;
};

// Returns the models of all sensors, and plays the program `truth` through one of them.
[[nodiscard]] std::vector<SensorModel> sensor_models();  // 1, 4, 20 ms counters; 25 of 100 ms; 100 ms mean
[[nodiscard]] meter::Series measure(const SyntheticProgram& truth, const SensorModel& sensor,
                                    const Scenario& scenario);

}  // namespace viridian::account
