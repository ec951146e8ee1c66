#pragma once
// Defines the metrics of a kernel, a conversion or a whole plan (seconds, joules and the like), and what an
// additive objective makes of them.
#include <limits>

#include "viridian/base/units.hpp"

namespace viridian::search {

// These quantities are counted over a plan. They are doubles, unlike Flop and Bytes, because a solver also
// looks at points between two plans and at the slope of an objective.
using Operations = Quantity<struct OperationsTag>;  // floating-point operations
using Traffic = Quantity<struct TrafficTag>;        // bytes read and written
using Launches = Quantity<struct LaunchesTag>;      // kernels called, conversions included

// Metrics are the totals of a kernel, a conversion or a plan. Sums of metrics are metrics.
struct Metrics {
    Seconds seconds;
    Joules joules;
    Operations flop;
    Traffic bytes;
    Launches kernels;

    // Returns the metrics of what cannot be done, such as a conversion that does not exist: it takes
    // forever.
    [[nodiscard]] static constexpr Metrics impossible() {
        return {Seconds(std::numeric_limits<double>::infinity()), {}, {}, {}, {}};
    }
    [[nodiscard]] bool possible() const { return seconds != impossible().seconds; }

    Metrics& operator+=(const Metrics& other) {
        seconds += other.seconds;
        joules += other.joules;
        flop += other.flop;
        bytes += other.bytes;
        kernels += other.kernels;
        return *this;
    }
    Metrics& operator-=(const Metrics& other) {
        seconds -= other.seconds;
        joules -= other.joules;
        flop -= other.flop;
        bytes -= other.bytes;
        kernels -= other.kernels;
        return *this;
    }
    friend Metrics operator+(Metrics a, const Metrics& b) { return a += b; }
    friend Metrics operator-(Metrics a, const Metrics& b) { return a -= b; }
    bool operator==(const Metrics&) const = default;
};

// Weights are an additive objective: they say what a second, a joule, an operation, a byte and a launch add
// to its value. of() returns that value.
struct Weights {
    double seconds = 0;
    double joules = 0;
    double flop = 0;
    double bytes = 0;
    double kernels = 0;

    [[nodiscard]] double of(const Metrics& m) const {
        return seconds * m.seconds.value + joules * m.joules.value + flop * m.flop.value +
               bytes * m.bytes.value + kernels * m.kernels.value;
    }
    // Returns the same value, but infinity for what is impossible, whatever the weights.
    [[nodiscard]] double cost(const Metrics& m) const {
        return m.possible() ? of(m) : std::numeric_limits<double>::infinity();
    }
    bool operator==(const Weights&) const = default;
};

}  // namespace viridian::search
