#pragma once
// What a region or conversion adds to a plan's totals, and what an additive objective makes of it.
#include "viridian/base/units.hpp"

namespace viridian::search {

struct Metrics {
    double seconds = 0;
    double joules = 0;
    double flop = 0;
    double bytes = 0;    // read and written
    double kernels = 0;  // launched, conversions included

    Metrics& operator+=(const Metrics& other) {
        seconds += other.seconds;
        joules += other.joules;
        flop += other.flop;
        bytes += other.bytes;
        kernels += other.kernels;
        return *this;
    }
    friend Metrics operator+(Metrics a, const Metrics& b) { return a += b; }
    bool operator==(const Metrics&) const = default;
};

// An additive objective: so much per second, joule, flop, byte and kernel.
struct Weights {
    double seconds = 0;
    double joules = 0;
    double flop = 0;
    double bytes = 0;
    double kernels = 0;

    [[nodiscard]] double of(const Metrics& m) const {
        return seconds * m.seconds + joules * m.joules + flop * m.flop + bytes * m.bytes +
               kernels * m.kernels;
    }
    bool operator==(const Weights&) const = default;
};

}  // namespace viridian::search
