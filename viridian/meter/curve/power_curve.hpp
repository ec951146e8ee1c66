#pragma once
// PowerCurve is the power of a device over time, made from the readings of a meter: abutting segments of
// known energy. For a counter the energy is the difference of two readings that differ; for a power it
// follows from `power_between`. The rules for wraps, resets and silence stand in interval_energy.hpp. A
// segment whose energy cannot be placed in time (a gap in sampling, a reset, a counter that may have wrapped
// twice, a clock set back) is marked as a gap: the part of its energy that is known counts in the total, but
// belongs to nobody. Energy that is not known is not counted, and a warning says so.
#include <string>
#include <vector>

#include "viridian/meter/curve/exact_energy.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::meter {

struct PowerSegment {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    Exact energy = 0;
    bool gap = false;  // the energy cannot be placed in time
};

struct PowerCurve {
    std::vector<PowerSegment> segments;             // abutting, in time order
    Exact total = 0;                                // from the first and last readings, not from the segments
    Nanoseconds period = 0;                         // median length of a segment
    std::uint64_t gaps = 0, wraps = 0, resets = 0;  // numbers of segments
    std::vector<std::string> warnings;              // sentences

    [[nodiscard]] bool empty() const { return segments.empty(); }
    [[nodiscard]] Nanoseconds begin() const { return segments.front().begin; }
    [[nodiscard]] Nanoseconds end() const { return segments.back().end; }
    [[nodiscard]] Watts mean_power() const;
};

// Returns the median length of `segments`, 0 if there are none.
[[nodiscard]] Nanoseconds median_length(const std::vector<PowerSegment>& segments);
// Returns the curve of one channel. Its readings are moved back by `shift`, the time by which the meter lags.
[[nodiscard]] PowerCurve curve_of(const Series& series, Nanoseconds shift = 0);
// Returns the sum of several channels of one device, such as package and dram, over the time that all of them
// cover. Empty parts are left out.
[[nodiscard]] PowerCurve sum(const std::vector<PowerCurve>& parts);

// SegmentRate computes the energy of a segment from its beginning to an instant, rounded down to a unit. It
// needs one division for the segment and none for an instant: energy = whole * ns + fraction * ns / 2^64.
class SegmentRate {
  public:
    SegmentRate() = default;
    explicit SegmentRate(const PowerSegment& segment);
    // Returns the energy until `time`, which is not before the segment's beginning; after its end, all of it.
    [[nodiscard]] Exact at(const PowerSegment& segment, Nanoseconds time) const {
        if (time >= segment.end) return segment.energy;
        const auto done = static_cast<std::uint64_t>(time - segment.begin);
        return static_cast<Exact>(whole_ * done + (UInt128{fraction_} * done >> 64U));
    }

  private:
    UInt128 whole_ = 0;
    std::uint64_t fraction_ = 0;
};

// EnergyIntegral computes exactly the energy from the beginning of a curve to a time, without gaps. Calls
// must not go back in time.
class EnergyIntegral {
  public:
    explicit EnergyIntegral(const PowerCurve& curve);
    [[nodiscard]] Exact until(Nanoseconds time);

  private:
    const PowerCurve* curve_;
    std::size_t at_ = 0;
    SegmentRate rate_;
    Exact before_ = 0;  // energy of the segments before `at_`
};

}  // namespace viridian::meter
