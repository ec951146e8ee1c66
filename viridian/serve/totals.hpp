#pragma once
// Running energy per channel, from the first reading on, so that an epoch's joules are a difference of two
// numbers however long it lasted. Counters add their differences, wraps undone; powers are integrated
// (trapezoids between instants, steps for averages). What cannot be known (a reset, a silence in which a
// counter may have gone round twice, a power nobody read for seconds) is not guessed: it is counted as a
// doubt and adds nothing beyond what the readings prove.
#include <cstdint>
#include <span>
#include <vector>

#include "viridian/meter/sample.hpp"

namespace viridian::serve {

class Totals {
  public:
    void add_channels(std::span<const meter::Channel> channels);
    // `first`: where the samples' meter begins in the list of channels.
    void take(std::uint32_t first, std::span<const meter::Sample> samples);

    struct Reading {
        double microjoules = 0.0;  // exact for counters up to 2^53
        std::uint64_t doubts = 0;
        std::uint64_t readings = 0;
        std::int64_t last_ns = 0;  // of the last reading, CLOCK_MONOTONIC
    };
    // As of an instant: a power is held from its last reading to then.
    [[nodiscard]] std::vector<Reading> at(std::int64_t monotonic_ns) const;
    [[nodiscard]] const std::vector<meter::Channel>& channels() const { return channels_; }

  private:
    struct Running {
        Reading now;
        meter::Sample last;
        double highest_watts = 0.0;
    };
    std::vector<meter::Channel> channels_;
    std::vector<Running> running_;
};

}  // namespace viridian::serve
