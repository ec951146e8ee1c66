#pragma once
// Defines the entries of the cost database: the price of one region under one choice, or of one conversion,
// as it was timed, and the key under which it is found.
#include <limits>
#include <string>

#include "viridian/cost/source.hpp"

namespace viridian::cost {

// A Key names what was timed, and under which conditions.
struct Key {
    std::string subject;  // plan::signature of the region, or "convert <dims> <from> <to>"
    std::string choice;   // plan::Choice::key(), or "" for a conversion
    std::string device;   // Machine::fingerprint()
    std::string library;  // "dnnl 2.6.3"
    int threads = 1;
    int protocol = 1;  // how it was timed; raised when the protocol changes
    auto operator<=>(const Key&) const = default;
};

// An Entry is a price as it was timed.
struct Entry {
    Seconds minimum, median, low, high;  // of one run; low and high bound the median (95 %)
    std::int64_t count = 0;              // timings behind it
    std::int64_t looks = 1;              // separate occasions on which it was timed
    Energy energy;                       // of one run
    Bytes workspace;
    // `error` is the relative L2 error against the reference kernel; NaN if it was not compared.
    double error = std::numeric_limits<double>::quiet_NaN();

    [[nodiscard]] Price price() const { return {median, low, high, energy}; }
};

}  // namespace viridian::cost
