#pragma once
// RunningEnergy adds up the energy of one channel, from its first reading on, in constant memory. A monitor
// that never ends keeps it instead of a PowerCurve. The energy of an epoch is the difference of two states,
// however long it lasted. Intervals whose energy is doubtful by the rules of interval_energy.hpp are counted.
#include "viridian/meter/curve/interval_energy.hpp"

namespace viridian::meter {

class RunningEnergy {
  public:
    // A channel that nobody read for longer than this (ns) is silent.
    static constexpr Nanoseconds longest_silence = 5'000'000'000;

    explicit RunningEnergy(Channel channel) : channel_(std::move(channel)) {}
    // Takes the next reading; those of a channel that is neither power nor energy are only counted.
    void take(const Sample& sample);

    struct State {
        Exact energy = 0;
        std::uint64_t doubts = 0;  // intervals whose energy is unknown or a lower bound
        std::uint64_t readings = 0;
        std::int64_t last_ns = 0;     // time of the last reading, CLOCK_MONOTONIC
        std::int64_t last_value = 0;  // the last reading
    };
    // Returns the state at `monotonic_ns`, which is not before the last reading. A power counts as constant
    // since its last reading; if it would be held for longer than `longest_silence`, it adds a doubt and no
    // energy.
    [[nodiscard]] State at(std::int64_t monotonic_ns) const;
    [[nodiscard]] const Channel& channel() const { return channel_; }

  private:
    Channel channel_;
    State state_;
    DrawnPower drawn_;
    UInt128 remainder_ = 0;
};

}  // namespace viridian::meter
