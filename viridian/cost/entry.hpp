#pragma once
// Defines the entries of the cost database: the price of one region under one choice, or of one conversion,
// as it was timed and metered, and the key under which it is found.
#include <limits>
#include <optional>
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
    int protocol = 1;   // how it was timed; raised when the protocol changes
    std::string meter;  // of the joules: the hardware meter that is asked, empty if none is
    auto operator<=>(const Key&) const = default;
};

// ProbeTimes say how fast the machine was when something was timed: the seconds of one run of two fixed
// kernels, one bound by arithmetic and one by memory (profile/calibration.hpp). Zero: they were not timed.
struct ProbeTimes {
    Seconds arithmetic, memory;
    [[nodiscard]] bool known() const { return arithmetic.value > 0 && memory.value > 0; }
    bool operator==(const ProbeTimes&) const = default;
};

// An Entry is a price as it was timed. Seconds do not depend on the meter. Joules do, so an entry holds those
// of its key's meter, or none: joules of a model are never stored, they are computed from the seconds.
struct Entry {
    Seconds minimum, median, low, high;  // of one run; low and high bound the median (95 %)
    std::int64_t count = 0;              // timings behind it
    std::int64_t looks = 1;              // separate occasions on which it was timed
    std::optional<Energy> energy;        // of one run, by the key's meter
    std::int64_t energy_looks = 0;       // separate occasions on which the joules were metered
    ProbeTimes probes;                   // when the seconds were timed
    Bytes workspace;
    // `error` is the relative L2 error against the reference kernel; NaN if it was not compared.
    double error = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace viridian::cost
