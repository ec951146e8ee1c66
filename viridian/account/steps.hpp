#pragma once
// Power as a step function: what a meter's readings say of a device, as abutting pieces of known energy.
// Counters: the difference of two readings that differ, wraps undone; readings that repeat a value are the
// meter not having moved, and are merged. Averages: each reading holds since the one before. Instants: the
// mean of both ends. Pieces whose energy cannot be trusted in time (a gap in sampling, a reset, a counter
// that may have wrapped twice, a clock set back) are marked: what is known of their energy counts, but
// belongs to nobody. What is not known (resets, gaps of a power meter) is not counted, and a warning says so.
#include <string>
#include <vector>

#include "viridian/account/exact.hpp"
#include "viridian/meter/power_log.hpp"

namespace viridian::account {

struct Step {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    Exact energy = 0;
    bool gap = false;
};

struct Steps {
    std::vector<Step> steps;  // abutting, in time order
    Exact total = 0;          // from the first and last readings, not from the steps
    Nanoseconds period = 0;   // median length of a step
    std::uint64_t gaps = 0, wraps = 0, resets = 0;
    std::vector<std::string> warnings;

    [[nodiscard]] bool empty() const { return steps.empty(); }
    [[nodiscard]] Nanoseconds begin() const { return steps.front().begin; }
    [[nodiscard]] Nanoseconds end() const { return steps.back().end; }
    [[nodiscard]] Watts mean_power() const;
};

[[nodiscard]] Nanoseconds median_length(const std::vector<Step>& steps);  // 0 of none
// `shift`: the meter lags the trace by that much (its clock included); readings are moved back.
[[nodiscard]] Steps steps_of(const meter::Series& series, Nanoseconds shift = 0);
// The sum of several channels of one device (package and dram), over the time that all of them cover.
[[nodiscard]] Steps sum(const std::vector<Steps>& parts);

// Where a step's energy stands at an instant inside it, rounded down to a unit. One division per step, none
// per instant: energy = whole * ns + fraction * ns / 2^64.
class StepRate {
  public:
    StepRate() = default;
    explicit StepRate(const Step& step);
    [[nodiscard]] Exact at(const Step& step, Nanoseconds time) const {
        if (time >= step.end) return step.energy;
        const auto done = static_cast<std::uint64_t>(time - step.begin);
        return static_cast<Exact>(whole_ * done + (UInt128{fraction_} * done >> 64U));
    }

  private:
    UInt128 whole_ = 0;
    std::uint64_t fraction_ = 0;
};

// The trusted energy (no gaps) from the first step to `time`, exactly; calls must not go back in time.
class Integral {
  public:
    explicit Integral(const Steps& steps);
    [[nodiscard]] Exact until(Nanoseconds time);

  private:
    const Steps* steps_;
    std::size_t at_ = 0;
    StepRate rate_;
    Exact before_ = 0;  // energy of the steps before `at_`
};

}  // namespace viridian::account
